package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// SetDefaultResolvers decides who may resolve the asks to come that list nobody; an empty list turns that off (spec
// §9.1). Messages already accepted keep what they have.
func (h *Hub) SetDefaultResolvers(ctx context.Context, c *Caller, list []string) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	if err := checkResolvers(list); err != nil {
		return err
	}
	rec, err := h.get(ctx, AccountKey(c.Account.Ref))
	if err != nil {
		return err
	}
	return h.revise(ctx, c, rec, func(rec record.Record) (revision, error) {
		var a Account
		if err := Decode(rec, &a); err != nil {
			return revision{}, err
		}
		a.DefaultResolvers = list
		c.Account = a
		put := record.Record{Key: rec.Key, Kind: KindAccount, Body: Encode(a)}
		return revision{&put, "default_resolvers", ""}, nil
	})
}

// The bounds of the account's default resolvers, which every ask without a list carries.
const (
	maxDefaultResolvers = 100
	maxResolverBytes    = 300
)

func checkResolvers(list []string) error {
	if len(list) > maxDefaultResolvers {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/default_resolvers", "Name at most %d resolvers.", maxDefaultResolvers)
	}
	for i, r := range list {
		_, isAgent := ma2h.ParseAddress(r)
		person, isPerson := strings.CutPrefix(r, ma2h.HumanPrefix)
		if !isAgent && (!isPerson || person == "") || len(r) > maxResolverBytes {
			return ma2h.FieldErrorf(ma2h.CodeInvalidField, fmt.Sprintf("/default_resolvers/%d", i),
				"A resolver is human:<id> or agent:<id>, of at most %d bytes.", maxResolverBytes)
		}
	}
	return nil
}

// deed is the audit entry of what a person did, to be committed with it. Entries lie in the order of the real clock,
// which never goes back, rather than of the hub's, which in a test does.
func (h *Hub) deed(c *Caller, did, subject string, now time.Time) record.Write {
	d := Deed{At: now, By: c.Actor(), Did: did, Subject: subject}
	key := record.Key{
		Part: "u#" + c.Account.Ref + "#" + now.Format("2006-01-02"),
		Sort: fmt.Sprintf("%019d", time.Now().UnixMicro()) + ma2h.NewTail(),
	}
	return record.Put(record.Record{Key: key, Kind: KindDeed, Body: Encode(d)}, "")
}
