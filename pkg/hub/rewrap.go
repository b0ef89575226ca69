package hub

import (
	"context"
	"errors"

	"github.com/mash-hub/mash/pkg/record"
)

// Rewrap returns a record with every secret in it wrapped anew by rewrap, which says whether that is a change, and whether
// any changed. A record without secrets stays as it is, and so does a secret that no key opens, which is lost already.
// Whatever kind of record comes to hold secrets belongs here, else they are lost when the hub is rekeyed.
func Rewrap(
	ctx context.Context, r record.Record,
	rewrap func(ctx context.Context, purpose string, wrapped []byte) (_ []byte, changed bool, _ error),
) (_ record.Record, changed bool, _ error) {
	if r.Kind != KindAgent {
		return r, false, nil
	}
	var a Agent
	if err := Decode(r, &a); err != nil {
		return r, false, err
	}
	for i := range a.Secrets {
		s := &a.Secrets[i]
		wrapped, fresh, err := rewrap(ctx, secretPurpose(a.Ref), s.Wrapped)
		if errors.Is(err, ErrNoKey) {
			continue
		}
		if err != nil {
			return r, false, err
		}
		s.Wrapped = wrapped
		changed = changed || fresh
	}
	if changed {
		r.Body = Encode(&a)
	}
	return r, changed, nil
}
