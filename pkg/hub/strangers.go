package hub

import (
	"context"
	"fmt"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Strangers returns those of some resolvers (spec §9.1) who are nobody of the caller's account, each once: no person and no
// agent of it has the name. A message that lists them waits for somebody who may join later. The first MaxReads names are
// looked up, but for the caller and the account's owner, and those that were read with the credential are not read again.
func (h *Hub) Strangers(ctx context.Context, c *Caller, resolvers []string) ([]string, error) {
	met := map[record.Key]string{}
	recs, keys := []record.Record{}, []record.Key{}
	for _, r := range resolvers {
		key, ok := h.principalKey(c.Account.Ref, r)
		if !ok || r == c.Actor() || r == c.Account.Owner || met[key] != "" || len(met) == record.MaxReads {
			continue
		}
		met[key] = r
		if rec, ok := c.seen(key); ok {
			recs = append(recs, rec)
		} else {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		more, err := h.Store.Get(ctx, keys...)
		if err != nil {
			return nil, fmt.Errorf("look for resolvers: %w", err)
		}
		recs = append(recs, more...)
	}
	var strangers []string
	for _, r := range recs {
		if !isOf(c.Account.Ref, r) {
			strangers = append(strangers, met[r.Key])
		}
	}
	return strangers, nil
}

// isOf says whether a record is of a person or an agent whom the account has now. Somebody's whose record cannot be read is
// taken for one of it: that nobody has a name is only a warning, which must not cost the sender its submit, nor a person
// their page. Whoever needs to read the record fails with why.
func isOf(account string, r record.Record) bool {
	switch r.Kind {
	case KindPerson:
		var p Person
		return Decode(r, &p) != nil || p.Account == account && !p.Removed
	case KindAgent:
		var a Agent
		return Decode(r, &a) != nil || a.Account == account && !a.Revoked
	}
	return false
}

// principalKey is where the person or agent lies whom a resolver names.
func (h *Hub) principalKey(account, resolver string) (record.Key, bool) {
	if name, ok := strings.CutPrefix(resolver, ma2h.HumanPrefix); ok {
		return PersonKey(h.PersonRef(name)), true
	}
	if a, ok := ma2h.ParseAddress(resolver); ok {
		return AgentKey(h.AgentRef(account, a.AgentID)), true
	}
	return record.Key{}, false
}
