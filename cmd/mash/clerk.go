package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/localhub"
)

// clerk keeps the agents of an account.
type clerk interface {
	AddAgent(ctx context.Context, id string) (*client.NewCredentials, error)
	RotateAgent(ctx context.Context, id string) (*client.NewCredentials, error)
	RevokeAgent(ctx context.Context, id string) error
	ListAgents(ctx context.Context) ([]client.Agent, error)
	Me(ctx context.Context) (client.Me, error)

	ReadAgent(ctx context.Context, id string) (*client.AgentDetail, error)
	BindHost(ctx context.Context, id, host string, proof client.Proof) (*client.CallbackHost, error)
	UnbindHost(ctx context.Context, id, host string) error
	SetWebhook(ctx context.Context, id, url string) error
	SetSecret(ctx context.Context, id, ref, value string, from time.Time) (*client.NewSecret, error)
	UseSecretNow(ctx context.Context, id, ref string) error
	RemoveSecret(ctx context.Context, id, ref string) error
	RemoveNextSecret(ctx context.Context, id, ref string) error
	SendAgain(ctx context.Context, id string) error

	AllowMail(ctx context.Context) error
	ForbidMail(ctx context.Context) error
	SetAllowlist(ctx context.Context, id string, senders []string) error
}

// desk is a clerk with what it takes to work with it.
type desk struct {
	clerk
	hubURL  string // where agents reach the hub, now or once it runs
	offline string // the data folder of a hub that does not run, or empty
	close   func()
}

// newDesk works over HTTP where a hub runs, and straight in its data folder where none does. It makes a folder that is
// missing, and says so.
func (p *program) newDesk(ctx context.Context, data string) (*desk, error) {
	at, err := p.place(data)
	if err != nil {
		return nil, err
	}
	return p.deskAt(ctx, at, data)
}

// oldDesk is newDesk for what makes sense only where a hub was made before.
func (p *program) oldDesk(ctx context.Context, data string) (*desk, error) {
	at, err := p.place(data)
	if err != nil {
		return nil, err
	}
	if at != "" && !at.InUse() {
		return nil, fmt.Errorf("there is no hub in %s; name the data folder of yours with --data, or make a hub with `%s serve`",
			at, p.name)
	}
	return p.deskAt(ctx, at, data)
}

// deskAt opens the desk of a place.
func (p *program) deskAt(ctx context.Context, at localhub.Folder, data string) (*desk, error) {
	if at == "" {
		c, err := p.clientFromEnvironment()
		if err != nil {
			return nil, err
		}
		return online(c, c.URL), nil
	}
	isNew := !at.InUse()
	if !at.Held() && (isNew || data == "") {
		if hubURL := p.hubThatAnswers(ctx, data); hubURL != "" {
			return nil, elsewhere(hubURL, at)
		}
	}
	d, err := p.openDesk(ctx, at)
	if err == nil && isNew {
		fmt.Fprintf(p.stderr, "Note: made a new, empty data folder at %s.\n"+
			"Should your hub have another one, name that with --data, and remove this one.\n\n", at)
	}
	return d, err
}

// openDesk opens the desk of the hub of a folder, running or not.
func (p *program) openDesk(ctx context.Context, at localhub.Folder) (*desk, error) {
	s, err := localhub.OpenOffline(ctx, at)
	if err == nil {
		return &desk{clerk: offline{s}, hubURL: p.agentsURL(at), offline: string(at), close: s.Close}, nil
	}
	if !errors.Is(err, localhub.ErrHeld) {
		return nil, err
	}
	c, err := ownerClient(at)
	if err != nil {
		return nil, err
	}
	return online(c, p.agentsURL(at)), nil
}

func online(c *client.Client, hubURL string) *desk {
	return &desk{clerk: c, hubURL: hubURL, close: func() {}}
}

// hubThatAnswers returns the URL of a hub that runs where hubs usually do or, where no folder was named, at MASH_URL.
func (p *program) hubThatAnswers(ctx context.Context, data string) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	places := []string{"http://" + p.usual}
	if at := p.env("MASH_URL"); at != "" && data == "" {
		places = append(places, at)
	}
	for _, at := range places {
		c := client.New(at, "")
		c.Patience = -1
		if _, err := c.Discover(ctx); err == nil {
			return c.URL
		}
	}
	return ""
}

// elsewhere is the error of a folder that nobody holds, while a hub runs.
func elsewhere(hubURL string, at localhub.Folder) error {
	return fmt.Errorf("a hub runs at %s, but not with the data folder %s; "+
		"name the folder that it printed when it started, with --data", hubURL, at)
}

// agentsURL is where agents reach the hub of a folder; before its first start, where it will listen unless told otherwise.
func (p *program) agentsURL(at localhub.Folder) string {
	if public, err := at.PublicURL(); err == nil {
		return public
	}
	return "http://" + cmp.Or(p.usual, defaultListen)
}

// offline is a clerk in the folder of a hub that does not run.
type offline struct{ s *localhub.Server }

var _ clerk = offline{}

// AddAgent makes an agent with its credentials.
func (o offline) AddAgent(ctx context.Context, id string) (*client.NewCredentials, error) {
	made, err := o.s.Hub.AddAgent(ctx, o.s.Owner, id)
	if err != nil {
		return nil, err
	}
	return (*client.NewCredentials)(made), nil
}

// RotateAgent gives an agent another token.
func (o offline) RotateAgent(ctx context.Context, id string) (*client.NewCredentials, error) {
	made, err := o.s.Hub.RotateAgent(ctx, o.s.Owner, id)
	if err != nil {
		return nil, err
	}
	return (*client.NewCredentials)(made), nil
}

// RevokeAgent ends an agent's credentials.
func (o offline) RevokeAgent(ctx context.Context, id string) error {
	return o.s.Hub.RevokeAgent(ctx, o.s.Owner, id)
}

// ListAgents returns the agents of the account.
func (o offline) ListAgents(ctx context.Context) ([]client.Agent, error) {
	views, err := o.s.Hub.Agents(ctx, o.s.Owner)
	if err != nil {
		return nil, err
	}
	agents := make([]client.Agent, len(views))
	for i, v := range views {
		agents[i] = client.Agent(v)
	}
	return agents, nil
}

// Me says who owns the folder.
func (o offline) Me(context.Context) (client.Me, error) { return client.Me(o.s.Owner.Me()), nil }
