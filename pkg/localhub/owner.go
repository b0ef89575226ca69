package localhub

import (
	"context"
	"fmt"

	"github.com/mash-hub/mash/pkg/auth"
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

// ownerTokenName is what the token of a data folder is called among the owner's.
const ownerTokenName = "owner.token, for commands at the hub's machine"

func (s *Server) newOwnerToken(ctx context.Context) error {
	token, err := s.Hub.ReplaceToken(ctx, s.Owner, ownerTokenName)
	if err != nil {
		return err
	}
	if err := writeSecret(s.folder.ownerToken(), token); err != nil {
		return fmt.Errorf("write the owner's token: %w", err)
	}
	return nil
}

// checkOwnerToken makes a new token where the one before was revoked: whoever can write to the folder may have one. A file
// that holds something else is left alone.
func (s *Server) checkOwnerToken(ctx context.Context, token string) error {
	credential, invalid := auth.Parse(token)
	if invalid != nil {
		return fmt.Errorf("%s does not hold a token; remove it, and the next start writes a new one", s.folder.ownerToken())
	}
	_, err := auth.For(s.Hub).Caller(ctx, credential)
	if ma2h.AsError(err) != nil {
		s.NewToken = true
		return s.newOwnerToken(ctx)
	}
	return err
}
