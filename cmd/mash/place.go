package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
)

// place is where a person's commands work: in a data folder of this machine, or at MASH_URL with a person's MASH_TOKEN,
// for which the folder is empty. A folder that is named comes first. MASH_URL means the hub there and no other, so that
// the default folder is meant only where MASH_URL is not set, or is the URL of the folder's own hub.
func (p *program) place(data string) (localhub.Folder, error) {
	if data != "" {
		return localhub.Folder(data), nil
	}
	at, token := p.env("MASH_URL"), p.env("MASH_TOKEN")
	if at == "" {
		if token != "" {
			return "", errors.New("MASH_TOKEN is set, and MASH_URL is not; set it to the URL of the token's hub, " +
				"or unset both for the hub of this machine")
		}
		return localhub.DefaultFolder()
	}
	if err := checkURL(at); err != nil {
		return "", err
	}
	if isPersons(token) {
		return "", nil
	}
	if usual, err := localhub.DefaultFolder(); err == nil && usual.InUse() && p.isOf(usual, at) {
		return usual, nil
	}
	return "", notPersons(at, token)
}

// isOf says whether a URL is that of the hub of a folder, which may not run now.
func (p *program) isOf(at localhub.Folder, hubURL string) bool {
	here, err := at.Address()
	return sameHub(hubURL, p.agentsURL(at)) || err == nil && sameHub(hubURL, here)
}

// sameHub compares the URLs of two hubs. localhost is 127.0.0.1.
func sameHub(a, b string) bool {
	plain := func(s string) string {
		u, err := url.Parse(s)
		if err != nil {
			return s
		}
		host := strings.ToLower(u.Host)
		if u.Hostname() == "localhost" {
			host = net.JoinHostPort("127.0.0.1", u.Port())
		}
		return u.Scheme + "://" + host + strings.TrimRight(u.Path, "/")
	}
	return plain(a) == plain(b)
}

func isPersons(token string) bool { return strings.HasPrefix(token, hub.PersonTokenPrefix+"_") }

// notPersons says what is wrong with a token that is no person's, and how to come by one.
func notPersons(at, token string) error {
	switch {
	case token == "":
		return fmt.Errorf("MASH_URL is %s, and MASH_TOKEN is not set to a person's token; %s", at, personsToken(at))
	case strings.HasPrefix(token, "mashs_"):
		return errPushSecret
	case !strings.HasPrefix(token, hub.AgentTokenPrefix+"_"):
		return fmt.Errorf("MASH_TOKEN is no token of a hub; a person's begins with %s_: %s", hub.PersonTokenPrefix, personsToken(at))
	}
	return fmt.Errorf("MASH_TOKEN is an agent's, and at %s this needs a person's; %s", at, personsToken(at))
}

// personsToken says how to come by a person's token of the hub at a URL.
func personsToken(at string) string {
	if onThisMachine(at) {
		return "name the hub's data folder with --data, or set MASH_TOKEN to what its owner.token holds"
	}
	return "on AWS `mash-aws token --stack NAME` prints one; else owner.token in the hub's data folder holds one"
}

// onThisMachine says whether a URL is one at which mash serve answers here. A name below localhost is that of something
// else, such as an emulated cloud.
func onThisMachine(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}
