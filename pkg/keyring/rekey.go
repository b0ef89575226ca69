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

// formatBefore is the format of a record without which a reader could not open what it should.
const formatBefore = 2

// ErrUnfinished is the error of Rekey while an earlier one is not finished: wrap anew what lies under the key before, and
// then FinishRekey.
var ErrUnfinished = errors.New("keyring: an earlier rekey is not finished")

// Rewrap has the wrapping key lie under another Wrapper, in one Commit of its one record. The key itself stays what it is,
// and so does everything under it.
func Rewrap(ctx context.Context, store record.Store, from, to Wrapper) error {
	recs, err := list(ctx, store)
	if err != nil {
		return err
	}
	o := &origin{store: store, wrapper: from}
	if _, err := o.open(ctx, recs); err != nil {
		return err
	}
	for _, r := range recs {
		if r.Sort != sortWrap {
			continue
		}
		write, err := putWrap(ctx, r, o.wrap, to)
		if err != nil {
			return err
		}
		if err := store.Commit(ctx, write); err != nil {
			return fmt.Errorf("write hub keys: %w", err)
		}
	}
	return nil
}

// putWrap writes a wrapping key over the record r, under a Wrapper.
func putWrap(ctx context.Context, r record.Record, wrap []byte, to Wrapper) (record.Write, error) {
	var s stored
	if err := hub.Decode(r, &s); err != nil {
		return record.Write{}, err
	}
	wrapped, err := to.Wrap(ctx, purposeWrap, wrap)
	if err != nil {
		return record.Write{}, fmt.Errorf("wrap hub keys: %w", err)
	}
	s.Wrapped = wrapped
	return put(sortWrap, s, r.Rev), nil
}

// Rekey replaces the wrapping key by a new one that lies under another Wrapper, and wraps the hub's other keys under it, all
// in one Commit: whoever dies meanwhile leaves the keys as they were or as they will be. What else was wrapped under the key
// before still opens, since that one is kept under the new one until FinishRekey; wrap it anew first, with Keyring.Rewrap.
//
// No other process may work with these keys meanwhile: one that has not read them again would go on to wrap under the key
// before, and lose what it wrapped.
func Rekey(ctx context.Context, store record.Store, from, to Wrapper) error {
	recs, err := list(ctx, store)
	if err != nil {
		return err
	}
	o := &origin{store: store, wrapper: from}
	opened, err := o.open(ctx, recs)
	if err != nil {
		return err
	}
	if len(opened.wraps) > 1 {
		return ErrUnfinished
	}
	writes, err := rekeyed(ctx, recs, o.wrap, opened.wraps[0], to)
	if err != nil {
		return err
	}
	if err := store.Commit(ctx, writes...); err != nil {
		return fmt.Errorf("write hub keys: %w", err)
	}
	return nil
}

// rekeyed is the Commit of Rekey.
func rekeyed(ctx context.Context, recs []record.Record, before []byte, was cipher.AEAD, to Wrapper) ([]record.Write, error) {
	wrap := randomKey()
	aead, err := newAEAD(wrap)
	if err != nil {
		return nil, err
	}
	old := stored{Format: formatBefore, Wrapped: seal(aead, purposeOf(sortBefore), before), CreatedAt: time.Now().UTC().Truncate(time.Second)}
	writes := []record.Write{put(sortBefore, old, "")}
	for _, r := range recs {
		if r.Sort == sortWrap {
			write, err := putWrap(ctx, r, wrap, to)
			if err != nil {
				return nil, err
			}
			writes = append(writes, write)
			continue
		}
		if r.Sort != sortDerive && !strings.HasPrefix(r.Sort, prefixSign) {
			return nil, fmt.Errorf("the hub key %s is none that this version of Mash knows", r.Sort)
		}
		var s stored
		if err := hub.Decode(r, &s); err != nil {
			return nil, err
		}
		secret, err := open(was, purposeOf(r.Sort), s.Wrapped)
		if err != nil {
			return nil, fmt.Errorf("open hub key %s: %w", r.Sort, err)
		}
		s.Wrapped = seal(aead, purposeOf(r.Sort), secret)
		writes = append(writes, put(r.Sort, s, r.Rev))
	}
	return writes, nil
}

// FinishRekey forgets the wrapping key before. What still lies under it is lost.
func FinishRekey(ctx context.Context, store record.Store) error {
	recs, err := store.Get(ctx, record.Key{Part: part, Sort: sortBefore})
	if err != nil {
		return fmt.Errorf("read hub keys: %w", err)
	}
	if recs[0].Rev == "" {
		return nil
	}
	if err := store.Commit(ctx, record.Erase(recs[0].Key, recs[0].Rev)); err != nil {
		return fmt.Errorf("write hub keys: %w", err)
	}
	return nil
}

// Rekeying says whether a rekey is not finished.
func (k *Keyring) Rekeying() bool { return len(k.held.Load().wraps) > 1 }
