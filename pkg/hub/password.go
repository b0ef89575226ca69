package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/password"
	"github.com/mash-hub/mash/pkg/record"
)

// SessionFresh is how long after signing in a person may choose a password without showing the one before.
const SessionFresh = 15 * time.Minute

// NewPassword is a password that a person chooses.
type NewPassword struct {
	Current string // the one before; not needed in a session that is fresh
	New     string // empty to have none any more
	Browser Browser
}

// PasswordView is what a person sees of their own password.
type PasswordView struct {
	SetAt time.Time // zero without a password
	Fresh bool      // whether the session is so fresh that the one before need not be shown
}

// checkPassword says what is wrong with a password to come.
func checkPassword(newPassword, name string) error {
	refuse := func(message string, args ...any) error {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/new", message, args...)
	}
	switch password.Check(newPassword, name) {
	case password.Short:
		return refuse("Use at least %d characters.", password.MinLength)
	case password.Long:
		return refuse("Use at most %d bytes, which is plenty.", password.MaxBytes)
	case password.Invalid:
		return refuse("Leave out control characters.")
	case password.Common:
		return refuse("This is among the passwords that are guessed first. Some words that have nothing to do with each other are better.")
	case password.Simple:
		return refuse("This repeats itself or runs along the keyboard, and is guessed early. Some words that have nothing to do with each other are better.")
	case password.Named:
		return refuse("This is little more than a name. Some words that have nothing to do with each other are better.")
	}
	return nil
}

// PasswordOf says whether the caller has a password, and whether it has to be shown to change it.
func (h *Hub) PasswordOf(ctx context.Context, c *Caller) (PasswordView, error) {
	if err := personOnly(c); err != nil {
		return PasswordView{}, err
	}
	rec, err := h.get(ctx, passwordKey(c.Person.Ref))
	if err != nil {
		return PasswordView{}, err
	}
	var kept Password
	if err := decodeAny(rec, &kept); err != nil {
		return PasswordView{}, err
	}
	fresh, err := h.fresh(c)
	v := PasswordView{Fresh: fresh}
	if kept.From == c.Person.TokensFrom {
		v.SetAt = kept.SetAt
	}
	return v, err
}

// fresh says whether the caller has only just signed in.
func (h *Hub) fresh(c *Caller) (bool, error) {
	var l Login
	if err := decodeAny(c.Login, &l); err != nil {
		return false, err
	}
	return l.Use == LoginSession && h.now().Sub(l.CreatedAt) < SessionFresh, nil
}

// SetPassword gives the caller a password, another one or none, ends all their sessions and links, and returns a new
// session, in one Commit. What is wrong is told with its field, /current or /new; guessing the current one is slowed down
// as signing in is.
func (h *Hub) SetPassword(ctx context.Context, c *Caller, n NewPassword) (string, error) {
	if err := personOnly(c); err != nil {
		return "", err
	}
	ref := c.Person.Ref
	recs, err := h.Store.Get(ctx, PersonKey(ref), passwordKey(ref), triesKey(ref))
	if err != nil {
		return "", fmt.Errorf("set password: %w", err)
	}
	still, err := c.still(recs[0])
	if err != nil {
		return "", err
	}
	var p Person
	var kept Password
	if err := errors.Join(Decode(recs[0], &p), decodeAny(recs[1], &kept)); err != nil {
		return "", err
	}
	has := kept.Hash != "" && kept.From == p.TokensFrom
	if !has && n.New == "" {
		return "", ma2h.FieldErrorf(ma2h.CodeInvalidField, "/new", "Write a password.")
	}
	if n.New != "" {
		if err := checkPassword(n.New, p.ID); err != nil {
			return "", err
		}
	}
	if err := h.provenOwn(ctx, c, n, recs[2], kept.Hash, has); err != nil {
		return "", err
	}
	return h.putPassword(ctx, c, &p, recs, n, still)
}

// provenOwn asks for more than a session that somebody may have left open: that it is fresh, or the password before.
func (h *Hub) provenOwn(ctx context.Context, c *Caller, n NewPassword, tries record.Record, hash string, has bool) error {
	fresh, err := h.fresh(c)
	if err != nil || fresh {
		return err
	}
	if !has {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/current", "You signed in too long ago for this. Sign in with a new link, then choose a password.")
	}
	_, err = h.try(ctx, tries, c.Person.Ref, hash, n.Current[:min(len(n.Current), password.MaxBytes)], n.Browser)
	if errors.Is(err, ErrWrongPassword) {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/current", "This is not your current password.")
	}
	return err
}

func (h *Hub) putPassword(ctx context.Context, c *Caller, p *Person, recs []record.Record, n NewPassword, still []record.Write) (string, error) {
	p.Epoch++
	now := h.now()
	var before Login // the session goes on in a new one, and is good with what it was good with
	if err := decodeAny(c.Login, &before); err != nil {
		return "", err
	}
	own := &Caller{Account: c.Account, Person: p}
	token, session := h.session(own, ViaPassword, n.Browser, before.With)
	did := "password_set"
	writes := append(still, record.Put(personRecord(p), recs[0].Rev), session)
	if n.New == "" {
		did = "password_remove"
		writes = append(writes, record.Erase(recs[1].Key, recs[1].Rev))
	} else {
		put, err := h.passwordWrite(ctx, p, n.New, recs[1].Rev)
		if err != nil {
			return "", err
		}
		writes = append(writes, put)
	}
	err := h.Store.Commit(ctx, append(writes, h.deed(c, did, "", now))...)
	if record.AsConflict(err) != nil {
		return "", changedMeanwhile()
	}
	if err != nil {
		return "", fmt.Errorf("set password: %w", err)
	}
	h.Bell.Ring(ctx, PersonLane(p.Ref))
	return token, nil
}
