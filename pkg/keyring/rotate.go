package keyring

import (
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// Lead is how long a new signing key stands in the key set before it signs: until every process has read it, every copy of
// the key set is out of date, and something more for clocks that differ.
const Lead = ReloadEvery + hub.JWKSMaxAge + 5*time.Minute

// Overlap is how long, unless told otherwise, the key before stays in the key set after the new one has begun to sign.
const Overlap = 24 * time.Hour

// Rotation is how to replace the key that signs.
type Rotation struct {
	// Overlap is how long the key before stays valid once the new one signs; zero means Overlap.
	Overlap time.Duration

	// AtOnce lets the new key sign now and erases all others: for a key that somebody else may have. Until whoever
	// verifies has read the key set anew, what the hub signs is refused.
	AtOnce bool

	// Now is the clock; nil means the real one.
	Now func() time.Time
}

// Rotated is what a rotation came to.
type Rotated struct {
	ID        string    // of the new key
	Old       []string  // ids of the keys that it replaces
	SignsFrom time.Time // when the new key begins to sign
	OldUntil  time.Time // until when the old ones are valid
}

// RotatingError is the error of Rotate while two keys are valid already.
type RotatingError struct {
	SignsFrom time.Time // when the newest key begins, or has begun, to sign
	OldUntil  time.Time // until when the one before is valid
}

// Error implements error.
func (e *RotatingError) Error() string {
	return "keyring: a rotation is under way until " + e.OldUntil.UTC().Format(time.RFC3339)
}

// Rotate puts a new signing key beside the one there is, in one Commit: it is in the key set at once, signs after Lead, and
// the key before stays valid for an overlap after that. While two keys are valid it is a *RotatingError, unless the rotation
// is AtOnce. Processes that run learn of it as they reload their keys. Without any keys it is ErrNoKeys.
func Rotate(ctx context.Context, store record.Store, w Wrapper, how Rotation) (*Rotated, error) {
	if how.Now == nil {
		how.Now = time.Now
	}
	if how.Overlap == 0 {
		how.Overlap = Overlap
	}
	for {
		done, err := how.try(ctx, store, w)
		if record.AsConflict(err) == nil {
			return done, err
		}
	}
}

func (how Rotation) try(ctx context.Context, store record.Store, w Wrapper) (*Rotated, error) {
	recs, err := list(ctx, store)
	if err != nil {
		return nil, err
	}
	o := &origin{store: store, wrapper: w}
	opened, err := o.open(ctx, recs)
	if err != nil {
		return nil, err
	}
	now := how.Now().UTC().Truncate(time.Second)
	if err := opened.rotating(now); err != nil && !how.AtOnce {
		return nil, err
	}
	done, writes, err := how.writes(recs, opened.wraps[0], now)
	if err != nil {
		return nil, err
	}
	if err := store.Commit(ctx, writes...); err != nil {
		return nil, fmt.Errorf("write hub keys: %w", err)
	}
	return done, nil
}

// rotating says until when two keys are valid, nil if there is one.
func (o *opened) rotating(now time.Time) error {
	for _, s := range o.signing {
		if !s.until.IsZero() && s.valid(now) {
			return &RotatingError{SignsFrom: o.signing[0].from, OldUntil: s.until}
		}
	}
	return nil
}

// writes is the Commit of a rotation. It holds only while the wrapping key is the one that the new key lies under.
func (how Rotation) writes(recs []record.Record, aead cipher.AEAD, now time.Time) (*Rotated, []record.Write, error) {
	fresh := newSigningKey()
	done := &Rotated{ID: fresh.id, SignsFrom: now, OldUntil: now}
	s := stored{CreatedAt: now}
	if !how.AtOnce {
		done.SignsFrom = now.Add(Lead)
		done.OldUntil = done.SignsFrom.Add(how.Overlap)
		s.SignsFrom = done.SignsFrom
	}
	sort := prefixSign + fresh.id
	s.Wrapped = seal(aead, purposeOf(sort), fresh.private.Seed())
	writes := []record.Write{put(sort, s, "")}
	for _, r := range recs {
		id, signs := strings.CutPrefix(r.Sort, prefixSign)
		switch {
		case r.Sort == sortWrap:
			writes = append(writes, record.Check(r.Key, r.Rev))
			continue
		case !signs:
			continue
		}
		var old stored
		if err := hub.Decode(r, &old); err != nil {
			return nil, nil, err
		}
		retired := !old.ValidUntil.IsZero() && !now.Before(old.ValidUntil)
		if !retired {
			done.Old = append(done.Old, id)
		}
		if retired || how.AtOnce {
			writes = append(writes, record.Erase(r.Key, r.Rev))
			continue
		}
		old.ValidUntil = done.OldUntil
		writes = append(writes, put(r.Sort, old, r.Rev))
	}
	if len(writes) > record.MaxWrites {
		return nil, nil, errors.New("there are more hub keys than one commit can change")
	}
	return done, writes, nil
}
