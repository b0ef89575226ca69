package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// InvitationLifetime is how long an invitation lies open.
const InvitationLifetime = 7 * 24 * time.Hour

// maxInvitations is how many invitations of an account may be open at once.
const maxInvitations = 100

// maxMade is how many are kept at once, those included that are not good any more.
const maxMade = 1000

// InvitationView is what the owners of an account see of an invitation. ID names it to Uninvite.
type InvitationView struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"` // of the person to be, without human:
	Role      Role      `json:"role"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// NewInvitation is an invitation as it is shown once, with the link that its person opens.
type NewInvitation struct {
	InvitationView
	URL string `json:"url"`
}

// Invitation is an open invitation as whoever opens its link sees it, and what it takes to accept it.
type Invitation struct {
	Name    string // of the person to be
	Role    Role
	Account Account
	By      string // human:<id> of who invites

	login, inviter record.Record
	person         record.Record // who was removed, if any
	revived        Person
}

// Invite makes a one-time link by which somebody becomes a person of the account under this name. A name that is taken,
// here or elsewhere, is refused, and so is one that CheckPersonName refuses. Somebody who was removed from this account is
// invited again under the same name.
func (h *Hub) Invite(ctx context.Context, c *Caller, name string, role Role) (*NewInvitation, error) {
	if err := ownerOnly(c); err != nil {
		return nil, err
	}
	name = strings.TrimSpace(name)
	if err := CheckPersonName(name); err != nil {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/name", "%s.", sentence(err.Error()))
	}
	if role != RoleOwner && role != RoleMember {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/role", "A person is %s or %s.", RoleOwner, RoleMember)
	}
	ref := h.PersonRef(name)
	was, err := h.person(ctx, ref)
	if err != nil {
		return nil, err
	}
	if was.Ref != "" && (!was.Removed || was.Account != c.Account.Ref) {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/name", "This name is taken; choose another. Who cannot sign in any more is removed first, and then invited again.")
	}
	open, made, err := h.invitations(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case len(open) >= maxInvitations:
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/name", "%d invitations are open, which is the most; revoke one first.", len(open))
	case made >= maxMade:
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/name", "%d people were invited within a week, which is the most; wait a while.", made)
	}
	return h.invite(ctx, c, ref, Login{
		Use: LoginInvitation, Name: name, Role: role, By: c.Person.Ref, ByFrom: c.Person.TokensFrom, Epoch: was.Epoch,
	})
}

// sentence begins with a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (h *Hub) invite(ctx context.Context, c *Caller, ref string, l Login) (*NewInvitation, error) {
	token := NewToken(PersonTokenPrefix, c.Account.Ref, ref)
	l.Person, l.CreatedAt = ref, h.now()
	l.ExpiresAt = l.CreatedAt.Add(InvitationLifetime)
	key := LoginKey(ref, LoginHash(token))
	rec := loginRecord(key, &l)
	rec.Tags = [2]record.Tag{{Name: "invite#" + c.Account.Ref, Order: record.DueOrder(l.CreatedAt)}}
	if err := h.Store.Commit(ctx, record.Put(rec, ""), h.deed(c, "invite", ma2h.HumanPrefix+l.Name, l.CreatedAt)); err != nil {
		return nil, fmt.Errorf("invite: %w", err)
	}
	return &NewInvitation{InvitationView: l.invitation(key), URL: h.Settings.BaseURL + "/join/" + token}, nil
}

// errInvitation is what whoever opens an invitation that is not good gets, whatever the reason.
func errInvitation() error {
	return ma2h.Errorf(ma2h.CodeUnauthenticated, "This invitation was used or revoked already, or is too old; ask for another.")
}

// OpenInvitation returns the invitation with this token, which names the account and the person to be, or unauthenticated.
// It changes nothing.
func (h *Hub) OpenInvitation(ctx context.Context, token, account, ref string) (*Invitation, error) {
	return h.openInvitation(ctx, LoginKey(ref, LoginHash(token)), PersonKey(ref), AccountKey(account))
}

// reopen reads an invitation again.
func (h *Hub) reopen(ctx context.Context, i *Invitation) (*Invitation, error) {
	return h.openInvitation(ctx, i.login.Key, PersonKey(h.PersonRef(i.Name)), AccountKey(i.Account.Ref))
}

func (h *Hub) openInvitation(ctx context.Context, login, person, account record.Key) (*Invitation, error) {
	recs, err := h.Store.Get(ctx, login, person, account)
	if err != nil {
		return nil, fmt.Errorf("read invitation: %w", err)
	}
	var l Login
	if recs[0].Rev == "" || recs[2].Rev == "" {
		return nil, errInvitation()
	}
	if err := Decode(recs[0], &l); err != nil {
		return nil, err
	}
	i := &Invitation{Name: l.Name, Role: l.Role, login: recs[0], person: recs[1]}
	if err := Decode(recs[2], &i.Account); err != nil {
		return nil, err
	}
	if l.Use != LoginInvitation || h.now().After(l.ExpiresAt) || recs[0].Tags[0].Name != "invite#"+i.Account.Ref {
		return nil, errInvitation()
	}
	return i, h.checkInvitation(ctx, i, &l)
}

// checkInvitation holds an invitation to what has happened since it was made.
func (h *Hub) checkInvitation(ctx context.Context, i *Invitation, l *Login) error {
	rec, err := h.get(ctx, PersonKey(l.By))
	if err != nil {
		return err
	}
	var by Person
	if err := errors.Join(decodeAny(i.person, &i.revived), decodeAny(rec, &by)); err != nil {
		return err
	}
	if !l.invites(i.Account.Ref, &i.revived, &by) {
		return errInvitation()
	}
	i.inviter = rec
	i.By = ma2h.HumanPrefix + by.ID
	return nil
}

// invites says whether an invitation to the account is good, its time apart: the name may have been taken, an older invitation
// may have been accepted, and who invites may be an owner no more. Who is not there is the zero Person.
func (l *Login) invites(account string, to, by *Person) bool {
	if to.Ref != "" && (!to.Removed || to.Account != account || to.Epoch != l.Epoch) {
		return false
	}
	return !by.Removed && by.Account == account && by.Role != RoleMember && by.TokensFrom == l.ByFrom
}

// AcceptInvitation makes whoever opened the invitation a person of the account, once, with a password when there is one,
// and returns a web session. All of it is one Commit. A password that will not do is refused with its field.
func (h *Hub) AcceptInvitation(ctx context.Context, i *Invitation, newPassword string, b Browser) (*Caller, string, error) {
	for range maxRevisions {
		c, session, err := h.accept(ctx, i, newPassword, b)
		if record.AsConflict(err) == nil {
			return c, session, err
		}
		if i, err = h.reopen(ctx, i); err != nil { // or it is as good as before, and only its inviter has changed
			return nil, "", err
		}
	}
	return nil, "", changedMeanwhile()
}

func (h *Hub) accept(ctx context.Context, i *Invitation, newPassword string, b Browser) (*Caller, string, error) {
	now := h.now()
	p := i.revived // its Epoch goes on, so that no login of before is good again
	p.Ref, p.ID, p.Account, p.Role = h.PersonRef(i.Name), i.Name, i.Account.Ref, i.Role
	p.InvitedBy, p.JoinedAt, p.Removed, p.RemovedAt = i.By, now, false, time.Time{}
	p.Epoch++
	p.TokensFrom = p.Epoch
	c := &Caller{Account: i.Account, Person: &p}
	token, session := h.session(c, LoginInvitation, b, "")
	writes := []record.Write{
		record.Erase(i.login.Key, i.login.Rev), record.Check(i.inviter.Key, i.inviter.Rev),
		record.Put(personRecord(&p), i.person.Rev), session,
		h.deed(c, "join", i.By, now),
	}
	if newPassword != "" {
		put, err := h.firstPassword(ctx, &p, newPassword)
		if err != nil {
			return nil, "", err
		}
		writes = append(writes, put)
	}
	if err := h.Store.Commit(ctx, writes...); err != nil {
		return nil, "", fmt.Errorf("accept invitation: %w", err)
	}
	return c, token, nil
}

// firstPassword returns the write of a password for somebody who joins.
func (h *Hub) firstPassword(ctx context.Context, p *Person, newPassword string) (record.Write, error) {
	if err := checkPassword(newPassword, p.ID); err != nil {
		return record.Write{}, err
	}
	was, err := h.get(ctx, passwordKey(p.Ref)) // of before the person was removed
	if err != nil {
		return record.Write{}, err
	}
	return h.passwordWrite(ctx, p, newPassword, was.Rev)
}

// PersonView is what the people of an account see of each other.
type PersonView struct {
	Ref       string    `json:"id"`   // names the person to RemovePerson
	Name      string    `json:"name"` // without human:
	Role      Role      `json:"role"`
	Founder   bool      `json:"founder,omitzero"` // whose account it is, and who cannot be removed
	InvitedBy string    `json:"invited_by,omitzero"`
	JoinedAt  time.Time `json:"joined_at,omitzero"`
}

// People returns the people of the caller's account by name, the founder first, and for owners the invitations that are
// open.
func (h *Hub) People(ctx context.Context, c *Caller) ([]PersonView, []InvitationView, error) {
	if err := personOnly(c); err != nil {
		return nil, nil, err
	}
	views, err := h.people(ctx, c)
	if err != nil || !c.Owns() {
		return views, nil, err
	}
	open, _, err := h.invitations(ctx, c)
	return views, open, err
}

func (h *Hub) people(ctx context.Context, c *Caller) ([]PersonView, error) {
	founder := *c.Person // the caller is one of them in any case
	if owner, ok := strings.CutPrefix(c.Account.Owner, ma2h.HumanPrefix); ok && owner != c.Person.ID {
		var err error
		if founder, err = h.person(ctx, h.PersonRef(owner)); err != nil { // who may be older than the list
			return nil, err
		}
	}
	views, after := []PersonView{founder.view(c)}, record.Entry{}
	for {
		recs, last, err := h.indexed(ctx, 1, "person#"+c.Account.Ref, after, record.MaxReads)
		if err != nil {
			return nil, err
		}
		for _, r := range recs {
			var p Person
			if err := Decode(r, &p); err != nil {
				return nil, err
			}
			if p.Ref != founder.Ref && !p.Removed {
				views = append(views, p.view(c))
			}
		}
		if last == (record.Entry{}) {
			break
		}
		after = last
	}
	slices.SortFunc(views[1:], func(x, y PersonView) int { return strings.Compare(x.Name, y.Name) })
	return views, nil
}

func (p *Person) view(c *Caller) PersonView {
	role := RoleOwner
	if p.Role == RoleMember {
		role = RoleMember
	}
	return PersonView{
		Ref: p.Ref, Name: p.ID, Role: role, Founder: ma2h.HumanPrefix+p.ID == c.Account.Owner,
		InvitedBy: p.InvitedBy, JoinedAt: p.JoinedAt,
	}
}

// person reads a person by ref. One who is not there is the zero Person.
func (h *Hub) person(ctx context.Context, ref string) (Person, error) {
	rec, err := h.get(ctx, PersonKey(ref))
	if err != nil || rec.Rev == "" {
		return Person{}, err
	}
	var p Person
	return p, Decode(rec, &p)
}

// Remove ends what an id names: a person of the account, or an open invitation.
func (h *Hub) Remove(ctx context.Context, c *Caller, id string) error {
	if strings.Contains(id, "-") {
		return h.Uninvite(ctx, c, id)
	}
	return h.RemovePerson(ctx, c, id)
}

// RemovePerson ends all that a person of the account may do, at once and in one Commit: every session, link, token and
// password, and the place among the default resolvers. What they did stays. The founder cannot be removed, so that an
// account always has an owner.
func (h *Hub) RemovePerson(ctx context.Context, c *Caller, ref string) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	unknown := ma2h.Errorf(ma2h.CodeNotFound, "The account has no person with this id.")
	if !ma2h.Minted(ref, ma2h.TailLength) {
		return unknown
	}
	for range maxRevisions {
		recs, err := h.Store.Get(ctx, PersonKey(ref), AccountKey(c.Account.Ref))
		if err != nil {
			return fmt.Errorf("read person: %w", err)
		}
		var p Person
		if recs[0].Rev == "" {
			return unknown
		}
		if err := Decode(recs[0], &p); err != nil {
			return err
		}
		if p.Account != c.Account.Ref || p.Removed {
			return unknown
		}
		if ma2h.HumanPrefix+p.ID == c.Account.Owner {
			return ma2h.Errorf(ma2h.CodeInvalidField, "The account is %s's own, so they cannot be removed from it.", p.ID)
		}
		writes, err := h.removal(c, recs, &p)
		if err != nil {
			return err
		}
		if err := h.Store.Commit(ctx, writes...); err == nil || record.AsConflict(err) == nil {
			h.Bell.Ring(ctx, PersonLane(ref))
			return err
		}
	}
	return ma2h.Errorf(ma2h.CodeUnavailable, "Too many change this at the same time; try again.")
}

// removal returns the writes that remove a person.
func (h *Hub) removal(c *Caller, recs []record.Record, p *Person) ([]record.Write, error) {
	now := h.now()
	p.Removed, p.RemovedAt = true, now
	p.Epoch++
	p.TokensFrom = p.Epoch
	actor := ma2h.HumanPrefix + p.ID
	writes := []record.Write{record.Put(personRecord(p), recs[0].Rev), h.deed(c, "remove", actor, now)}
	var a Account
	if err := Decode(recs[1], &a); err != nil {
		return nil, err
	}
	if slices.Contains(a.DefaultResolvers, actor) {
		a.DefaultResolvers = slices.DeleteFunc(a.DefaultResolvers, func(r string) bool { return r == actor })
		return append(writes, record.Put(record.Record{Key: recs[1].Key, Kind: KindAccount, Body: Encode(a)}, recs[1].Rev)), nil
	}
	return append(writes, record.Check(recs[1].Key, recs[1].Rev)), nil // lest somebody puts them on it at the same time
}
