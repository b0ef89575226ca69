package localhub

import (
	"context"
	"fmt"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// own finds the owner of the folder, or on a first start makes the owner's account; and the token of the person at this
// machine, where it is missing. It refuses to serve a folder as somebody else's.
func (s *Server) own(ctx context.Context, name string) error {
	first := name
	if first == "" {
		first = DefaultOwner
	}
	var err error
	if s.Owner, s.FirstStart, err = s.Hub.EnsureOwner(ctx, first); err != nil {
		return err
	}
	if name != "" && s.Owner.Account.Owner != ma2h.HumanPrefix+name {
		return fmt.Errorf("%s belongs to %s; leave --owner out, or choose another folder with --data",
			s.folder, s.Owner.Account.Owner)
	}
	token, err := s.folder.OwnerToken()
	switch {
	case missing(err):
		return s.newOwnerToken(ctx)
	case err != nil:
		return fmt.Errorf("read the owner's token: %w", err)
	}
	return s.checkOwnerToken(ctx, token)
}

func (s *Server) newOwnerToken(ctx context.Context) error {
	token, err := s.Hub.NewLogin(ctx, s.Owner, hub.LoginToken, 0)
	if err != nil {
		return err
	}
	if err := writeSecret(s.folder.ownerToken(), token); err != nil {
		return fmt.Errorf("write the owner's token: %w", err)
	}
	return nil
}

// checkOwnerToken says early what would make every command on this machine fail.
func (s *Server) checkOwnerToken(ctx context.Context, token string) error {
	const remedy = "remove it, and the next start writes a new one"
	credential, invalid := auth.Parse(token)
	if invalid != nil {
		return fmt.Errorf("%s does not hold a token; %s", s.folder.ownerToken(), remedy)
	}
	_, err := auth.For(s.Hub).Caller(ctx, credential)
	if ma2h.AsError(err) != nil {
		return fmt.Errorf("the token in %s is not good here; %s", s.folder.ownerToken(), remedy)
	}
	return err
}
