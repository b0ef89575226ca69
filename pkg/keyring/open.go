package keyring

import (
	"context"
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
	Wrapped   []byte    `json:"wrapped"`
	CreatedAt time.Time `json:"created_at"`
}

// ErrNoKeys is the error of Load for a store without any of the hub's keys: nobody has made them yet.
var ErrNoKeys = errors.New("keyring: there are no hub keys yet")

// Load reads the hub's keys from the store and opens them with w. Without any it is ErrNoKeys; a wrong w is ErrWrongKey.
func Load(ctx context.Context, store record.Store, w Wrapper) (*Keyring, error) {
	recs, err := store.List(ctx, part, "", maxHubKeys)
	if err != nil {
		return nil, fmt.Errorf("read hub keys: %w", err)
	}
	if len(recs) == 0 {
		return nil, ErrNoKeys
	}
	return unwrapAll(ctx, recs, w)
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
	return unwrapAll(ctx, recs, w)
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
	signing := newSigningKey()
	puts := []record.Write{put(sortWrap, wrapped)}
	for sort, secret := range map[string][]byte{
		sortDerive:              randomKey(),
		prefixSign + signing.id: signing.private.Seed(),
	} {
		puts = append(puts, put(sort, seal(aead, purposeOf(sort), secret)))
	}
	if err := store.Commit(ctx, puts...); err != nil && record.AsConflict(err) == nil {
		return nil, fmt.Errorf("write hub keys: %w", err)
	}
	recs, err := store.List(ctx, part, "", maxHubKeys)
	if err != nil {
		return nil, fmt.Errorf("read hub keys: %w", err)
	}
	return recs, nil
}

func put(sort string, wrapped []byte) record.Write {
	return record.Put(record.Record{
		Key:  record.Key{Part: part, Sort: sort},
		Kind: KindKey,
		Body: hub.Encode(stored{Wrapped: wrapped, CreatedAt: time.Now().UTC().Truncate(time.Second)}),
	}, "")
}

func purposeOf(sort string) string { return "mash hub key " + sort }

// dated is a signing key with its age.
type dated struct {
	signingKey
	createdAt time.Time
}

func unwrapAll(ctx context.Context, recs []record.Record, w Wrapper) (*Keyring, error) {
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
	wrap, err := w.Unwrap(ctx, purposeWrap, bodies[sortWrap].Wrapped)
	if err != nil {
		return nil, fmt.Errorf("open hub keys: %w", err)
	}
	return unwrapUnder(wrap, bodies)
}

// unwrapUnder opens the keys that lie under the wrapping key.
func unwrapUnder(wrap []byte, bodies map[string]stored) (*Keyring, error) {
	aead, err := newAEAD(wrap)
	if err != nil {
		return nil, fmt.Errorf("open hub keys: %w", err)
	}
	var derive []byte
	var signing []dated
	for sort, s := range bodies {
		if sort == sortWrap {
			continue
		}
		secret, err := open(aead, purposeOf(sort), s.Wrapped)
		if err != nil {
			return nil, fmt.Errorf("open hub key %s: it was changed or belongs elsewhere: %w", sort, err)
		}
		switch {
		case sort == sortDerive:
			derive = secret
		case strings.HasPrefix(sort, prefixSign) && len(secret) == ed25519.SeedSize:
			signing = append(signing, dated{signingKeyOf(ed25519.NewKeyFromSeed(secret)), s.CreatedAt})
		}
	}
	if len(signing) == 0 {
		return nil, ErrIncomplete
	}
	slices.SortFunc(signing, func(x, y dated) int {
		if c := y.createdAt.Compare(x.createdAt); c != 0 {
			return c
		}
		return strings.Compare(x.id, y.id)
	})
	keys := make([]signingKey, len(signing))
	for i, s := range signing {
		keys[i] = s.signingKey
	}
	return build(derive, wrap, func() []signingKey { return keys })
}
