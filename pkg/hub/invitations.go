package hub

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// invitation is what owners see of one; its id is the ref of its person and the hash of its secret.
func (l *Login) invitation(key record.Key) InvitationView {
	return InvitationView{
		ID: l.Person + "-" + strings.TrimPrefix(key.Sort, loginSort), Name: l.Name, Role: l.Role,
		CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt,
	}
}

// invitationKey is where the invitation with this id lies.
func invitationKey(id string) (record.Key, bool) {
	ref, hash, _ := strings.Cut(id, "-")
	if !ma2h.Minted(ref, ma2h.TailLength) || !isLoginID(hash) {
		return record.Key{}, false
	}
	return LoginKey(ref, hash), true
}

// invitations lists the open invitations of the caller's account, oldest first, and counts those that are kept. One that
// nobody can accept any more, since its person has joined or who made it was removed, is not open.
func (h *Hub) invitations(ctx context.Context, c *Caller) (open []InvitationView, made int, _ error) {
	open = []InvitationView{}
	for after := (record.Entry{}); ; {
		recs, last, err := h.indexed(ctx, 1, "invite#"+c.Account.Ref, after, record.MaxReads)
		if err != nil {
			return nil, 0, err
		}
		some, err := h.openOf(ctx, c, recs)
		if err != nil {
			return nil, 0, err
		}
		open, made, after = append(open, some...), made+len(recs), last
		if last == (record.Entry{}) {
			return open, made, nil
		}
	}
}

// openOf returns those of some invitations that are open.
func (h *Hub) openOf(ctx context.Context, c *Caller, recs []record.Record) ([]InvitationView, error) {
	logins, refs, now := make([]Login, len(recs)), map[string]bool{}, h.now()
	for n, r := range recs {
		if err := Decode(r, &logins[n]); err != nil {
			return nil, err
		}
		refs[logins[n].Person], refs[logins[n].By] = true, true
	}
	people, err := h.persons(ctx, refs)
	if err != nil {
		return nil, err
	}
	var open []InvitationView
	for n, l := range logins {
		if to, by := people[l.Person], people[l.By]; !now.After(l.ExpiresAt) && l.invites(c.Account.Ref, &to, &by) {
			open = append(open, l.invitation(recs[n].Key))
		}
	}
	return open, nil
}

// persons reads people by their refs. Those who are not there are left out.
func (h *Hub) persons(ctx context.Context, refs map[string]bool) (map[string]Person, error) {
	people := map[string]Person{}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(refs)), record.MaxReads) {
		keys := make([]record.Key, len(some))
		for n, ref := range some {
			keys[n] = PersonKey(ref)
		}
		recs, err := h.Store.Get(ctx, keys...)
		if err != nil {
			return nil, fmt.Errorf("read people: %w", err)
		}
		for n, r := range recs {
			var p Person
			if err := decodeAny(r, &p); err != nil {
				return nil, err
			}
			if r.Rev != "" {
				people[some[n]] = p
			}
		}
	}
	return people, nil
}

// Uninvite revokes an open invitation of the account.
func (h *Hub) Uninvite(ctx context.Context, c *Caller, id string) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	unknown := ma2h.Errorf(ma2h.CodeNotFound, "The account has no open invitation with this id.")
	key, ok := invitationKey(id)
	if !ok {
		return unknown
	}
	rec, err := h.get(ctx, key)
	if err != nil {
		return err
	}
	var l Login
	if rec.Rev == "" {
		return unknown
	}
	if err := Decode(rec, &l); err != nil {
		return err
	}
	if l.Use != LoginInvitation || rec.Tags[0].Name != "invite#"+c.Account.Ref {
		return unknown
	}
	return h.endLogin(ctx, c, rec, "uninvite")
}
