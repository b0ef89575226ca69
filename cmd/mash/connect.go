package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
)

// agentClient returns a client with an agent's credential, from MASH_URL and MASH_TOKEN.
func (p *program) agentClient() (*client.Client, error) {
	for _, name := range []string{"MASH_URL", "MASH_TOKEN"} {
		if p.env(name) == "" {
			return nil, fmt.Errorf("%s is not set; `%s agent add NAME` prints the export lines for MASH_URL and MASH_TOKEN",
				name, p.name)
		}
	}
	if strings.HasPrefix(p.env("MASH_TOKEN"), "mashs_") {
		return nil, errors.New("MASH_TOKEN holds a push secret, which belongs into MASH_PUSH_SECRET; " +
			"the token is the one that begins with mash_")
	}
	return p.clientFromEnvironment()
}

// clientFromEnvironment returns a client of the hub of MASH_URL, if that can be one.
func (p *program) clientFromEnvironment() (*client.Client, error) {
	at := p.env("MASH_URL")
	u, err := url.Parse(at)
	if !strings.Contains(at, "://") {
		return nil, fmt.Errorf("MASH_URL is %s, without http:// or https:// before it; say http://%s if it is on this machine", at, at)
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("MASH_URL is %s, and a hub has a URL such as http://%s or https://mash.example.com", at, defaultListen)
	}
	c := client.New(at, p.env("MASH_TOKEN"))
	c.Patience = -1 // who types a command wants to hear at once that there is no hub
	return c, nil
}

// personClient returns a client with a person's credential: the token of MASH_TOKEN if it is a person's and no folder is
// named, else the owner's in the data folder of the hub that runs on this machine.
func (p *program) personClient(data string) (*client.Client, error) {
	if p.personInEnvironment(data) {
		return p.clientFromEnvironment()
	}
	at, err := folder(data)
	if err != nil {
		return nil, err
	}
	if !at.Held() {
		return nil, fmt.Errorf("no hub runs with the data folder %s; start it with `%s serve%s`, name another folder with --data, "+
			"or set MASH_URL, and MASH_TOKEN to a person's, such as that in owner.token of its data folder", at, p.name, dataArgs(data))
	}
	return ownerClient(at)
}

// personInEnvironment says whether MASH_URL and a person's MASH_TOKEN say for whom to work, and no folder does.
func (p *program) personInEnvironment(data string) bool {
	return data == "" && p.env("MASH_URL") != "" && strings.HasPrefix(p.env("MASH_TOKEN"), hub.PersonTokenPrefix+"_")
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
	return c, nil
}
