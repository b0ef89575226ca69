package keyring

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// KindKey is the kind of the records of the hub's keys.
const KindKey = "key"

// The hub's keys lie in one part: the wrapping key under the Wrapper, and the others under the wrapping key, so that one
// use of the Wrapper opens them all. Signing keys lie under sign# and their id.
const (
	part        = "k#hub"
	sortWrap    = "wrap"
	sortBefore  = "wrap-before" // the wrapping key before, until nothing lies under it any more
	sortDerive  = "derive"
	prefixSign  = "sign#"
	maxHubKeys  = 100
	purposeWrap = "mash hub key wrap"
)

// ErrIncomplete is the error of Open for a store that has some of the hub's keys but not all: making the missing one anew
// would quietly give every agent and message another id.
var ErrIncomplete = errors.New("keyring: the stored hub keys are incomplete; restore them from a backup")

// stored is the body of a key's record.
type stored struct {
	Format     int       `json:"format,omitzero"` // see hub.RecordFormat
	Wrapped    []byte    `json:"wrapped"`
	CreatedAt  time.Time `json:"created_at"`
	SignsFrom  time.Time `json:"signs_from,omitzero"`  // of a signing key; zero is at once
	ValidUntil time.Time `json:"valid_until,omitzero"` // of a signing key; zero is for ever
}

// ErrNoKeys is the error of Load for a store without any of the hub's keys: nobody has made them yet.
var ErrNoKeys = errors.New("keyring: there are no hub keys yet")

// Load reads the hub's keys from the store and opens them with w. Without any it is ErrNoKeys; a wrong w is ErrWrongKey.
func Load(ctx context.Context, store record.Store, w Wrapper) (*Keyring, error) {
	recs, err := list(ctx, store)
	if err != nil {
		return nil, err
	}
	return openRing(ctx, store, w, recs)
}

// Open is Load that makes the keys on the first start of all: of two processes that do so at once, one wins and both use
// its keys.
func Open(ctx context.Context, store record.Store, w Wrapper) (*Keyring, error) {
	k, err := Load(ctx, store, w)
	if !errors.Is(err, ErrNoKeys) {
		return k, err
	}
	recs, err := create(ctx, store, w)
	if err != nil {
		return nil, err
	}
	return openRing(ctx, store, w, recs)
}

// list reads the records of the hub's keys, or returns ErrNoKeys.
func list(ctx context.Context, store record.Store) ([]record.Record, error) {
	recs, err := store.List(ctx, part, "", maxHubKeys)
	if err != nil {
		return nil, fmt.Errorf("read hub keys: %w", err)
	}
	if len(recs) == 0 {
		return nil, ErrNoKeys
	}
	return recs, nil
}

func openRing(ctx context.Context, store record.Store, w Wrapper, recs []record.Record) (*Keyring, error) {
	o := &origin{store: store, wrapper: w}
	opened, err := o.open(ctx, recs)
	if err != nil {
		return nil, err
	}
	k := &Keyring{derive: opened.derive, origin: o}
	k.held.Store(opened.held(time.Now()))
	return k, nil
}

// create writes all keys in one Commit, and returns the records that stand afterwards.
func create(ctx context.Context, store record.Store, w Wrapper) ([]record.Record, error) {
	wrap := randomKey()
	aead, err := newAEAD(wrap)
	if err != nil {
		return nil, err
	}
	wrapped, err := w.Wrap(ctx, purposeWrap, wrap)
	if err != nil {
		return nil, fmt.Errorf("wrap hub keys: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	signing := newSigningKey()
	puts := []record.Write{put(sortWrap, stored{Wrapped: wrapped, CreatedAt: now}, "")}
	for sort, secret := range map[string][]byte{
		sortDerive:              randomKey(),
		prefixSign + signing.id: signing.private.Seed(),
	} {
		puts = append(puts, put(sort, stored{Wrapped: seal(aead, purposeOf(sort), secret), CreatedAt: now}, ""))
	}
	if err := store.Commit(ctx, puts...); err != nil && record.AsConflict(err) == nil {
		return nil, fmt.Errorf("write hub keys: %w", err)
	}
	return list(ctx, store)
}

// put writes a key over its record at the revision was. One that is no longer valid is garbage.
func put(sort string, s stored, was string) record.Write {
	return record.Put(record.Record{
		Key: record.Key{Part: part, Sort: sort}, Kind: KindKey, Body: hub.Encode(s), Erase: s.ValidUntil,
	}, was)
}

func purposeOf(sort string) string { return "mash hub key " + sort }

// opened is the hub's keys as they came out of their records.
type opened struct {
	wraps   []cipher.AEAD
	derive  []byte
	signing []signingKey // newest first
}

func (o *opened) held(readAt time.Time) *held {
	return &held{wraps: o.wraps, signing: func() []signingKey { return o.signing }, readAt: readAt}
}

func bodiesOf(recs []record.Record) (map[string]stored, error) {
	bodies := map[string]stored{}
	for _, r := range recs {
		var s stored
		if err := hub.Decode(r, &s); err != nil {
			return nil, err
		}
		bodies[r.Sort] = s
	}
	if bodies[sortWrap].Wrapped == nil || bodies[sortDerive].Wrapped == nil {
		return nil, ErrIncomplete
	}
	return bodies, nil
}

// unwrapUnder opens the keys that lie under the wrapping key.
func unwrapUnder(wrap []byte, bodies map[string]stored) (*opened, error) {
	aead, err := newAEAD(wrap)
	if err != nil {
		return nil, fmt.Errorf("open hub keys: %w", err)
	}
	out := &opened{wraps: []cipher.AEAD{aead}}
	for sort, s := range bodies {
		if sort == sortWrap {
			continue
		}
		secret, err := open(aead, purposeOf(sort), s.Wrapped)
		if err != nil {
			return nil, fmt.Errorf("open hub key %s: it was changed or belongs elsewhere: %w", sort, err)
		}
		if err := out.take(sort, s, secret); err != nil {
			return nil, fmt.Errorf("open hub key %s: %w", sort, err)
		}
	}
	if len(out.signing) == 0 || len(out.derive) != keySize {
		return nil, ErrIncomplete
	}
	slices.SortFunc(out.signing, newestFirst)
	return out, nil
}

// take puts a key where it belongs; one of a use that is not known here is left alone.
func (o *opened) take(sort string, s stored, secret []byte) error {
	switch {
	case sort == sortDerive:
		o.derive = secret
	case sort == sortBefore:
		before, err := newAEAD(secret)
		if err != nil {
			return err
		}
		o.wraps = append(o.wraps, before)
	case strings.HasPrefix(sort, prefixSign) && len(secret) == ed25519.SeedSize:
		key := signingKeyOf(ed25519.NewKeyFromSeed(secret))
		key.createdAt, key.from, key.until = s.CreatedAt, s.SignsFrom, s.ValidUntil
		o.signing = append(o.signing, key)
	}
	return nil
}

func newestFirst(x, y signingKey) int {
	return cmp.Or(y.from.Compare(x.from), y.createdAt.Compare(x.createdAt), strings.Compare(x.id, y.id))
}
