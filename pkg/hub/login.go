package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// How long a person stays signed in: as long as they come by now and then, and no longer than a season.
const (
	SessionIdle = 30 * 24 * time.Hour
	SessionMost = 180 * 24 * time.Hour
)

// Browser is what is known of the browser in which somebody signs in.
type Browser struct {
	Summary string // such as Firefox on Linux
	Mark    string // the BrowserMark that it shows, if any
}

// Admits says whether a login is good for the person, its time apart.
func (p *Person) Admits(l *Login) bool {
	switch {
	case p.Removed || l.Person != p.Ref:
		return false
	case l.Use == LoginToken:
		return l.Epoch >= p.TokensFrom
	}
	return l.Epoch == p.Epoch
}

// NewLogin makes a token, web session or link for the person and returns it; only its hash is kept. ttl is how long it
// is good for, 0 for ever. What is made with a token is good while that is.
func (h *Hub) NewLogin(ctx context.Context, c *Caller, use LoginUse, ttl time.Duration) (string, error) {
	if err := personOnly(c); err != nil {
		return "", err
	}
	var own Login
	if err := decodeAny(c.Login, &own); err != nil {
		return "", err
	}
	with := own.With
	if own.Use == LoginToken {
		with = loginID(c.Login)
	}
	token, write := h.login(c, Login{Use: use, With: with}, ttl)
	if err := h.Store.Commit(ctx, write); err != nil {
		return "", fmt.Errorf("make %s: %w", use, err)
	}
	return token, nil
}

// login completes a login of the person.
func (h *Hub) login(c *Caller, l Login, ttl time.Duration) (string, record.Write) {
	token := NewToken(PersonTokenPrefix, c.Account.Ref, c.Person.Ref)
	l.Person, l.CreatedAt, l.Epoch = c.Person.Ref, h.now(), c.Person.Epoch
	if ttl > 0 {
		l.ExpiresAt = l.CreatedAt.Add(ttl)
	}
	return token, record.Put(loginRecord(LoginKey(l.Person, LoginHash(token)), &l), "")
}

func loginRecord(key record.Key, l *Login) record.Record {
	return record.Record{Key: key, Kind: KindLogin, Body: Encode(l), Erase: l.ExpiresAt}
}

// session makes a web session of the person, a new one at each signing in.
func (h *Hub) session(c *Caller, via LoginUse, b Browser, with string) (string, record.Write) {
	return h.login(c, Login{Use: LoginSession, Via: via, Browser: b.Summary, With: with}, SessionIdle)
}

// RedeemLink turns a link, once, into a web session. link is the record of the link as it was read with the credential.
func (h *Hub) RedeemLink(ctx context.Context, c *Caller, link record.Record, b Browser) (string, error) {
	var l Login
	if err := Decode(link, &l); err != nil {
		return "", err
	}
	token, write := h.session(c, LoginLink, b, l.With)
	err := h.Store.Commit(ctx, record.Erase(link.Key, link.Rev), write, h.deed(c, "sign_in", string(LoginLink), h.now()))
	if err != nil {
		if record.AsConflict(err) != nil {
			return "", ma2h.Errorf(ma2h.CodeUnauthenticated, "The link was used already; ask for another.")
		}
		return "", fmt.Errorf("redeem link: %w", err)
	}
	return token, nil
}

// Stay puts the end of the caller's session off, once a day at most, while they come by. It is no deed, and that another was
// faster is no error.
func (h *Hub) Stay(ctx context.Context, c *Caller) error {
	var l Login
	if err := Decode(c.Login, &l); err != nil {
		return err
	}
	now, most := h.now(), l.CreatedAt.Add(SessionMost)
	until := now.Add(SessionIdle)
	if until.After(most) {
		until = most
	}
	if until.Sub(l.ExpiresAt) < 24*time.Hour {
		return nil
	}
	l.ExpiresAt = until
	err := h.Store.Commit(ctx, record.Put(loginRecord(c.Login.Key, &l), c.Login.Rev))
	if err != nil && record.AsConflict(err) == nil {
		return fmt.Errorf("keep session: %w", err)
	}
	return nil
}

// SignOut ends the web session that the caller showed.
func (h *Hub) SignOut(ctx context.Context, c *Caller) error {
	if err := personOnly(c); err != nil || c.Login.Rev == "" {
		return err
	}
	return h.endLogin(ctx, c, c.Login, "sign_out")
}

// endLogin erases a login. One that is gone is done.
func (h *Hub) endLogin(ctx context.Context, c *Caller, login record.Record, did string) error {
	for {
		err := h.Store.Commit(ctx, record.Erase(login.Key, login.Rev),
			h.deed(c, did, loginID(login), h.now()))
		if err == nil {
			h.Bell.Ring(ctx, login.Part) // the PersonLane
			return nil
		}
		conflict := record.AsConflict(err)
		if conflict == nil {
			return fmt.Errorf("end %s: %w", login.Key, err)
		}
		winner, ok := conflict.Winner(login.Key)
		if !ok || winner.Rev == "" {
			return nil // by another
		}
		login = winner // it was put off meanwhile
	}
}

// SignOutEverywhere ends all sessions and links of the caller, in one Commit. Tokens stay.
func (h *Hub) SignOutEverywhere(ctx context.Context, c *Caller) error {
	if err := personOnly(c); err != nil {
		return err
	}
	rec, err := h.get(ctx, PersonKey(c.Person.Ref))
	if err != nil {
		return err
	}
	err = h.revise(ctx, c, rec, func(rec record.Record) (revision, error) {
		var p Person
		if err := Decode(rec, &p); err != nil {
			return revision{}, err
		}
		p.Epoch++
		put := personRecord(&p)
		return revision{&put, []done{{"sign_out_everywhere", ""}}}, nil
	})
	if err == nil {
		h.Bell.Ring(ctx, PersonLane(c.Person.Ref))
	}
	return err
}

// LoginView is what a person sees of one of their sessions or tokens.
type LoginView struct {
	ID        string // names it to EndSession or RevokeToken
	Via       LoginUse
	Browser   string
	Name      string
	CreatedAt time.Time
	ExpiresAt time.Time // zero means never
}

// Sessions returns the web sessions of the caller that are good, latest first.
func (h *Hub) Sessions(ctx context.Context, c *Caller) ([]LoginView, error) {
	all, err := h.logins(ctx, c)
	return all[LoginSession], err
}

// Logins returns the web sessions and tokens of the caller that are good, latest first.
func (h *Hub) Logins(ctx context.Context, c *Caller) (sessions, tokens []LoginView, _ error) {
	all, err := h.logins(ctx, c)
	return all[LoginSession], all[LoginToken], err
}

// Tokens returns the tokens of the caller that are good, latest first.
func (h *Hub) Tokens(ctx context.Context, c *Caller) ([]LoginView, error) {
	all, err := h.logins(ctx, c)
	return all[LoginToken], err
}

// EndSession ends one of the caller's sessions.
func (h *Hub) EndSession(ctx context.Context, c *Caller, id string) error {
	rec, err := h.ownLogin(ctx, c, id, LoginSession)
	if err != nil {
		return err
	}
	return h.endLogin(ctx, c, rec, "session_end")
}

// ownLogin reads a login of the caller's. Those of others, and those of another use, are unknown.
func (h *Hub) ownLogin(ctx context.Context, c *Caller, id string, use LoginUse) (record.Record, error) {
	none, unknown := record.Record{}, ma2h.Errorf(ma2h.CodeNotFound, "You have no %s with this id.", use)
	if err := personOnly(c); err != nil {
		return none, err
	}
	if !isLoginID(id) {
		return none, unknown
	}
	rec, err := h.get(ctx, LoginKey(c.Person.Ref, id))
	if err != nil {
		return none, err
	}
	var l Login
	if err := decodeAny(rec, &l); err != nil {
		return none, err
	}
	if l.Use != use {
		return none, unknown
	}
	return rec, nil
}

// loginID is the LoginHash under which a login is kept.
func loginID(r record.Record) string { return strings.TrimPrefix(r.Sort, loginSort) }

// isLoginID says whether an id has the form of a LoginHash.
func isLoginID(id string) bool {
	return len(id) == 64 && strings.Trim(id, "0123456789abcdef") == ""
}

// still holds the caller against the record of their person as it now is: whoever has been signed out or removed meanwhile
// gets no credential any more. What it returns belongs into the Commit that makes one.
func (c *Caller) still(person record.Record) ([]record.Write, error) {
	var p Person
	if err := decodeAny(person, &p); err != nil {
		return nil, err
	}
	if p.Removed || p.Epoch != c.Person.Epoch {
		return nil, ma2h.Errorf(ma2h.CodeUnauthenticated, "You were signed out meanwhile.")
	}
	if c.Login.Rev == "" {
		return nil, nil // at the hub's machine
	}
	return []record.Write{record.Check(c.Login.Key, c.Login.Rev)}, nil
}

func changedMeanwhile() error {
	return &ma2h.Error{
		Code: ma2h.CodeUnavailable, RetryAfter: time.Second, Message: "Your sign-ins were changed at the same time; try again.",
	}
}
