package main

import (
	"context"
	"errors"

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
}

// desk is a clerk with what it takes to work with it.
type desk struct {
	clerk
	hubURL  string // where agents reach the hub, now or once it runs
	offline bool   // whether the hub does not run
	close   func()
}

// openDesk works over HTTP where a hub runs, and straight in its data folder where none does.
func (p *program) openDesk(ctx context.Context, data string) (*desk, error) {
	if c := p.personFromEnvironment(data); c != nil {
		return &desk{clerk: c, hubURL: c.URL, close: func() {}}, nil
	}
	at, err := folder(data)
	if err != nil {
		return nil, err
	}
	s, err := localhub.OpenOffline(ctx, at)
	if err == nil {
		return &desk{clerk: offline{s}, hubURL: agentsURL(at), offline: true, close: s.Close}, nil
	}
	if !errors.Is(err, localhub.ErrHeld) {
		return nil, err
	}
	c, err := ownerClient(at)
	if err != nil {
		return nil, err
	}
	return &desk{clerk: c, hubURL: agentsURL(at), close: func() {}}, nil
}

// agentsURL is where agents reach the hub of a folder; before its first start, where it will listen unless told otherwise.
func agentsURL(at localhub.Folder) string {
	if public, err := at.PublicURL(); err == nil {
		return public
	}
	return "http://" + defaultListen
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
