package hub

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/password"
	"github.com/mash-hub/mash/pkg/record"
)

// ErrWrongPassword is the error of SignIn for a name that nobody has, a person without a password, and a wrong one alike.
var ErrWrongPassword = errors.New("hub: wrong name or password")

// How guesses are slowed down: a few are free, then each waits longer than the one before. A day without a guess, or the
// right password, forgets them.
const (
	freeTries    = 5
	firstWait    = 15 * time.Second
	longestWait  = 15 * time.Minute
	triesForgot  = 24 * time.Hour
	maxKnown     = 16 // browsers of a person whose guesses are told apart
	hashPatience = 5 * time.Second
)

// SignIn returns the person with this name and password, and a web session. Whoever guesses is slowed down, with
// rate_limited and when to try again: browsers in which the person was never signed in all together, and each one that
// shows its mark for itself, so that nobody can lock a person out of their own browser. Links work whatever was guessed.
func (h *Hub) SignIn(ctx context.Context, name, guess string, b Browser) (*Caller, string, error) {
	ref := h.PersonRef(name)
	recs, err := h.Store.Get(ctx, PersonKey(ref), passwordKey(ref), triesKey(ref))
	if err != nil {
		return nil, "", fmt.Errorf("sign in: %w", err)
	}
	var p Person
	var kept Password
	if err := decodeAny(recs[0], &p); err != nil {
		return nil, "", err
	}
	if err := decodeAny(recs[1], &kept); err != nil {
		return nil, "", err
	}
	hash := kept.Hash
	if p.Ref == "" || p.Removed || kept.From != p.TokensFrom || len(guess) > password.MaxBytes {
		hash, guess = "", guess[:min(len(guess), password.MaxBytes)]
	}
	old, err := h.try(ctx, recs[2], ref, hash, guess, b)
	if err != nil {
		return nil, "", err
	}
	c := &Caller{Account: Account{Ref: p.Account}, Person: &p}
	token, session := h.session(c, ViaPassword, b, "")
	if err := h.Store.Commit(ctx, session, h.deed(c, "sign_in", string(ViaPassword), h.now())); err != nil {
		return nil, "", fmt.Errorf("sign in: %w", err)
	}
	if old {
		_ = h.rehash(ctx, &p, recs[1], guess) // they are in, a hub has no log, and the next sign-in tries again
	}
	return c, token, nil
}

// decodeAny decodes a record that may be absent.
func decodeAny(r record.Record, v any) error {
	if r.Rev == "" {
		return nil
	}
	return Decode(r, v)
}

// try holds a guess against a hash: it is written down before it is looked at, so that guesses made at once are counted
// one by one, and crossed out if it is right. old says that the hash is to be made anew.
func (h *Hub) try(ctx context.Context, tries record.Record, ref, hash, guess string, b Browser) (old bool, _ error) {
	known := h.knownBrowser(ref, b.Mark)
	tries, before, err := h.noteTry(ctx, tries, known)
	if err != nil {
		return false, err
	}
	patient, cancel := context.WithTimeout(ctx, hashPatience)
	defer cancel()
	right, old, err := h.passwords.Verify(patient, hash, guess)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return false, cmp.Or(h.putBucket(ctx, tries, known, before), tooMany(hashPatience)) // nobody looked at it
	case err != nil:
		return false, fmt.Errorf("verify password: %w", err)
	case !right:
		return false, ErrWrongPassword
	}
	return old, h.putBucket(ctx, tries, known, Bucket{})
}

func tooMany(wait time.Duration) error {
	return &ma2h.Error{
		Code: ma2h.CodeRateLimited, RetryAfter: wait,
		Message: "Too many tried to sign in; wait a while, or use a link.",
	}
}

// noteTry counts one more guess, or says how long there is to wait. It returns the bucket of before, too.
func (h *Hub) noteTry(ctx context.Context, rec record.Record, known string) (_ record.Record, before Bucket, _ error) {
	for range maxRevisions {
		var t Tries
		if err := decodeAny(rec, &t); err != nil {
			return rec, before, err
		}
		now := h.now()
		b := t.bucket(known)
		if now.Sub(b.At) > triesForgot {
			b = Bucket{}
		}
		if now.Before(b.Until) {
			return rec, before, tooMany(b.Until.Sub(now))
		}
		before = b
		b.Failed, b.At, b.Until = b.Failed+1, now, now.Add(waitAfter(b.Failed+1))
		t.set(known, b)
		put := record.Put(record.Record{Key: rec.Key, Kind: KindTries, Body: Encode(t), Erase: now.Add(triesForgot)}, rec.Rev)
		err := h.Store.Commit(ctx, put)
		if err == nil {
			return put.Record, before, nil
		}
		won := false
		if conflict := record.AsConflict(err); conflict != nil {
			rec, won = conflict.Winner(rec.Key)
		}
		if !won {
			return rec, before, fmt.Errorf("note try: %w", err)
		}
	}
	return rec, before, tooMany(time.Second)
}

// waitAfter is how long to wait after so many guesses.
func waitAfter(failed int) time.Duration {
	if failed < freeTries {
		return 0
	}
	return min(firstWait<<min(failed-freeTries, 10), longestWait)
}

// putBucket crosses out what was tried, since it ended well or nobody looked at it. That somebody guesses meanwhile is no
// error.
func (h *Hub) putBucket(ctx context.Context, rec record.Record, known string, b Bucket) error {
	var t Tries
	if err := Decode(rec, &t); err != nil {
		return err
	}
	t.set(known, b)
	write := record.Put(record.Record{Key: rec.Key, Kind: KindTries, Body: Encode(t), Erase: rec.Erase}, rec.Rev)
	err := h.Store.Commit(ctx, write)
	if err != nil && record.AsConflict(err) == nil {
		return fmt.Errorf("forget tries: %w", err)
	}
	return nil
}

func (t *Tries) bucket(known string) Bucket {
	if known == "" {
		return t.Unknown
	}
	return t.Known[known]
}

// set replaces a bucket. Beyond maxKnown the one that was tried longest ago goes.
func (t *Tries) set(known string, b Bucket) {
	if known == "" {
		t.Unknown = b
		return
	}
	t.Known = maps.Clone(t.Known)
	if t.Known == nil {
		t.Known = map[string]Bucket{}
	}
	t.Known[known] = b
	if b == (Bucket{}) {
		delete(t.Known, known)
	}
	for len(t.Known) > maxKnown {
		delete(t.Known, slices.MinFunc(slices.Sorted(maps.Keys(t.Known)), func(x, y string) int {
			return t.Known[x].At.Compare(t.Known[y].At)
		}))
	}
}

// rehash keeps the password under today's parameters. That it was changed meanwhile is no error.
func (h *Hub) rehash(ctx context.Context, p *Person, was record.Record, guess string) error {
	write, err := h.passwordWrite(ctx, p, guess, was.Rev)
	if err != nil {
		return err
	}
	if err := h.Store.Commit(ctx, write); err != nil && record.AsConflict(err) == nil {
		return fmt.Errorf("keep password: %w", err)
	}
	return nil
}

// passwordWrite returns the write that keeps a password, over the revision was.
func (h *Hub) passwordWrite(ctx context.Context, p *Person, newPassword, was string) (record.Write, error) {
	patient, cancel := context.WithTimeout(ctx, hashPatience)
	defer cancel()
	hash, err := h.passwords.Hash(patient, newPassword)
	if err != nil {
		if ctx.Err() == nil {
			return record.Write{}, tooMany(hashPatience)
		}
		return record.Write{}, fmt.Errorf("hash password: %w", err)
	}
	body := Encode(Password{Hash: hash, SetAt: h.now(), From: p.TokensFrom})
	return record.Put(record.Record{Key: passwordKey(p.Ref), Kind: KindPassword, Body: body}, was), nil
}

// BrowserMark returns a new mark for a browser in which the person is signed in, by which SignIn knows it again.
func (h *Hub) BrowserMark(c *Caller) string {
	id := ma2h.NewTail()
	return id + "_" + h.markSeal(c.Person.Ref, id)
}

// markSeal is what only the hub can write under a mark.
func (h *Hub) markSeal(ref, id string) string {
	sum := h.Keys.Hash("browser", ref, id)
	return hex.EncodeToString(sum[:])
}

// KnowsBrowser says whether the person with this name was signed in in the browser before, so that it has tries of its own.
func (h *Hub) KnowsBrowser(name string, b Browser) bool {
	return h.knownBrowser(h.PersonRef(name), b.Mark) != ""
}

// knownBrowser returns the id of the browser that shows a mark of the person's, or "".
func (h *Hub) knownBrowser(ref, mark string) string {
	id, seal, _ := strings.Cut(mark, "_")
	if len(id) != ma2h.TailLength || subtle.ConstantTimeCompare([]byte(seal), []byte(h.markSeal(ref, id))) != 1 {
		return ""
	}
	return id
}
