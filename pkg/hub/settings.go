package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// SettingsChange is what an owner changes of the account's settings; nil leaves a setting as it is.
type SettingsChange struct {
	DefaultResolvers *[]string // who may resolve the asks to come that list nobody; empty for none
	InterAgent       *bool     // whether the account's agents may write to each other
}

// SetDefaultResolvers decides who may resolve the asks to come that list nobody; an empty list turns that off (spec
// §9.1). Messages already accepted keep what they have.
func (h *Hub) SetDefaultResolvers(ctx context.Context, c *Caller, list []string) error {
	return h.ChangeSettings(ctx, c, SettingsChange{DefaultResolvers: &list})
}

// ChangeSettings changes the account's settings, all in one Commit with a deed for each.
func (h *Hub) ChangeSettings(ctx context.Context, c *Caller, change SettingsChange) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	if change.DefaultResolvers != nil {
		if err := checkResolvers(*change.DefaultResolvers); err != nil {
			return err
		}
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
		deeds := change.apply(&a)
		c.Account = a
		if len(deeds) == 0 {
			return revision{}, nil
		}
		put := record.Record{Key: rec.Key, Kind: KindAccount, Body: Encode(a)}
		return revision{&put, deeds}, nil
	})
}

// apply makes the change, and returns what was done thereby.
func (s SettingsChange) apply(a *Account) []done {
	var deeds []done
	if s.DefaultResolvers != nil {
		a.DefaultResolvers = *s.DefaultResolvers
		deeds = append(deeds, done{"default_resolvers", ""})
	}
	if s.InterAgent != nil && *s.InterAgent != a.InterAgent {
		a.InterAgent = *s.InterAgent
		did := "inter_agent_off"
		if a.InterAgent {
			did = "inter_agent_on"
		}
		deeds = append(deeds, done{did, ""})
	}
	return deeds
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
