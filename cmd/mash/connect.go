package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/localhub"
)

// errPushSecret is the error of a push secret where a token belongs.
var errPushSecret = errors.New("MASH_TOKEN holds a push secret, which belongs into MASH_PUSH_SECRET; " +
	"the token of an agent begins with mash_, and that of a person with mashp_")

// agentClient returns a client with an agent's credential, from MASH_URL and MASH_TOKEN.
func (p *program) agentClient() (*client.Client, error) {
	for _, name := range []string{"MASH_URL", "MASH_TOKEN"} {
		if p.env(name) == "" {
			return nil, fmt.Errorf("%s is not set; `%s agent add NAME` prints the export lines for MASH_URL and MASH_TOKEN",
				name, p.name)
		}
	}
	if strings.HasPrefix(p.env("MASH_TOKEN"), "mashs_") {
		return nil, errPushSecret
	}
	return p.clientFromEnvironment()
}

// clientFromEnvironment returns a client of the hub of MASH_URL, if that can be one.
func (p *program) clientFromEnvironment() (*client.Client, error) {
	at := p.env("MASH_URL")
	if err := checkURL(at); err != nil {
		return nil, err
	}
	c := client.New(at, p.env("MASH_TOKEN"))
	c.Patience = -1 // who types a command wants to hear at once that there is no hub
	return c, nil
}

// checkURL says what is wrong with a MASH_URL that cannot be a hub's.
func checkURL(at string) error {
	u, err := url.Parse(at)
	if !strings.Contains(at, "://") {
		return fmt.Errorf("MASH_URL is %s, without http:// or https:// before it; say http://%s if it is on this machine", at, at)
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("MASH_URL is %s, and a hub has a URL such as http://%s or https://mash.example.com", at, defaultListen)
	}
	return nil
}

// personClient returns a client with a person's credential: that of MASH_TOKEN at MASH_URL, or the owner's in the data
// folder of the hub that runs on this machine; see place.
func (p *program) personClient(data string) (*client.Client, error) {
	at, err := p.place(data)
	if err != nil {
		return nil, err
	}
	if at == "" {
		return p.clientFromEnvironment()
	}
	if !at.Held() {
		return nil, p.notHeld(at, data)
	}
	return ownerClient(at)
}

// notHeld is the error of a folder whose hub would have to run.
func (p *program) notHeld(at localhub.Folder, data string) error {
	start := fmt.Sprintf("no hub runs with the data folder %s; start it with `%s serve%s`", at, p.name, dataArgs(data))
	if p.env("MASH_URL") != "" {
		return fmt.Errorf("%s, or name another folder with --data", start)
	}
	return fmt.Errorf("%s, name another folder with --data, or set MASH_URL, and MASH_TOKEN to a person's there", start)
}

// ownerClient returns a client with the owner's token in a folder that a hub holds.
func ownerClient(at localhub.Folder) (*client.Client, error) {
	address, err := at.Address()
	token, tokenErr := at.OwnerToken()
	if err = errors.Join(err, tokenErr); err != nil {
		return nil, fmt.Errorf("the hub of the data folder %s is not ready; wait a moment and try again", at)
	}
	c := client.New(address, token)
	c.Patience = -1
	if strings.HasPrefix(address, "https:") {
		if c.HTTP, err = at.HTTP(); err != nil {
			return nil, err
		}
	}
	return c, nil
}
