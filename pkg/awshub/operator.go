package awshub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// DefaultOwner owns a deployment unless Bootstrap is given another name.
const DefaultOwner = "owner"

// LinkLifetime is how long the link of Bootstrap is good for.
const LinkLifetime = httpapi.LinkLifetime

// OtherOwnerError is the error of Bootstrap with another name than that of whom the hub belongs to.
type OtherOwnerError struct{ Owner string } // human:<id>

// Error implements error.
func (e *OtherOwnerError) Error() string { return "awshub: the hub belongs to " + e.Owner }

// ErrNoOwner is the error of Token for a hub that nobody owns yet.
var ErrNoOwner = errors.New("awshub: the hub has no owner yet")

// Bootstrap makes the hub's keys and its owner unless they are there, and returns the owner and a link that signs the owner
// in, once. An empty name is whoever owns the hub, or DefaultOwner. It is for an operator: no function may do it.
func (c Config) Bootstrap(ctx context.Context, name string) (owner, link string, _ error) {
	if err := hub.CheckPersonName(cmp.Or(name, DefaultOwner)); err != nil {
		return "", "", err // before there are keys
	}
	h, err := c.Create(ctx)
	if err != nil {
		return "", "", err
	}
	who, _, err := h.EnsureOwner(ctx, cmp.Or(name, DefaultOwner))
	if err != nil {
		return "", "", err
	}
	owner = who.Account.Owner
	if name != "" && owner != ma2h.HumanPrefix+name {
		return "", "", &OtherOwnerError{owner}
	}
	token, err := h.NewLogin(ctx, who, hub.LoginLink, LinkLifetime)
	if err != nil {
		return "", "", err
	}
	return owner, c.BaseURL + "/in/" + token, nil
}

// Token returns a new token of the owner, or ErrNoOwner. It is for an operator, as Bootstrap is.
func (c Config) Token(ctx context.Context) (string, error) {
	h, err := c.Open(ctx)
	if errors.Is(err, keyring.ErrNoKeys) {
		return "", ErrNoOwner
	}
	if err != nil {
		return "", err
	}
	who, err := h.Owner(ctx)
	if err != nil {
		return "", fmt.Errorf("find the owner: %w", err)
	}
	if who == nil {
		return "", ErrNoOwner
	}
	return h.NewPersonToken(ctx, who, "mash-aws token")
}

// HubKeyRotated is what a rotation of the key that signs came to.
type HubKeyRotated = keyring.Rotated

// RotatingError is the error of RotateHubKey while two keys are valid already.
type RotatingError = keyring.RotatingError

// RotateHubKey puts a new signing key beside the one there is, which retires after an overlap; see keyring.Rotate. It is for
// an operator: no function may do it.
func (c Config) RotateHubKey(ctx context.Context, overlap time.Duration) (*HubKeyRotated, error) {
	return c.rotate(ctx, keyring.Rotation{Overlap: overlap, Now: c.Now})
}

// ReplaceHubKey has a new key sign at once and erases all others, for one that somebody else may have. It is for an operator.
func (c Config) ReplaceHubKey(ctx context.Context) (*HubKeyRotated, error) {
	return c.rotate(ctx, keyring.Rotation{AtOnce: true, Now: c.Now})
}

func (c Config) rotate(ctx context.Context, how keyring.Rotation) (*HubKeyRotated, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	done, err := keyring.Rotate(ctx, c.store(), c.wrapper(), how)
	if errors.Is(err, keyring.ErrNoKeys) {
		return nil, ErrNoOwner
	}
	return done, err
}

// Rekey has the hub's keys lie under the stack's key in KMS as that is now, whose material KMS may have rotated, or which may
// be another than the one that they lie under. Functions that run go on meanwhile. It is for an operator, who must be allowed
// to decrypt under the key before.
func (c Config) Rekey(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	under := c.wrapper()
	err := keyring.Rewrap(ctx, c.store(), under.Any(), under)
	if errors.Is(err, keyring.ErrNoKeys) {
		return ErrNoOwner
	}
	return err
}
