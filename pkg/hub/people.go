package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// The prefixes of tokens: each names whom it belongs to, so that one read of known keys authenticates.
const (
	AgentTokenPrefix  = "mash"  // mash_<account>_<agent ref>_<secret>
	PersonTokenPrefix = "mashp" // mashp_<account>_<person ref>_<secret>
)

// NewToken mints a token of 130 random bits for the holder of ref.
func NewToken(prefix, account, ref string) string {
	return prefix + "_" + account + "_" + ref + "_" + ma2h.NewTail()
}

// TokenHash is what is kept of an agent's token.
func TokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// LoginHash names the record of a person's token, session or link.
func LoginHash(token string) string { return hex.EncodeToString(TokenHash(token)) }

// Owner is the record of who owns the hub's first account: the folder's, on one machine.
type Owner struct {
	ID string `json:"id"` // of the person, without human:
}

// ownerKey is where it lies.
func ownerKey() record.Key { return record.Key{Part: "meta", Sort: "owner"} }

// maxPersonName is the longest name of a person, in bytes.
const maxPersonName = 200

// CheckPersonName says in one sentence why a text cannot name a person, or returns nil. It is for names to come: they can
// never be changed.
func CheckPersonName(name string) error {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar }
	switch {
	case name == "":
		return errors.New("a person needs a name")
	case len(name) > maxPersonName:
		return fmt.Errorf("a name of %d bytes is too long; %d are the most", len(name), maxPersonName)
	case strings.HasPrefix(name, ma2h.HumanPrefix) || strings.HasPrefix(name, ma2h.AgentPrefix):
		return fmt.Errorf("%q cannot name a person; leave out what stands before and with the colon", name)
	case strings.ContainsFunc(name, odd):
		return fmt.Errorf("%q cannot name a person; leave out blanks and control characters", name)
	case lookalike(name) != "":
		return fmt.Errorf("%q has %s, and could be taken for another name; choose another", name, lookalike(name))
	}
	return nil
}

// EnsureOwner returns the owner of the hub's first account. The first call decides that it is the person named name, and
// says so; later ones return the same, whatever name they give. A name that is none is refused as CheckPersonName says.
func (h *Hub) EnsureOwner(ctx context.Context, name string) (owner *Caller, first bool, _ error) {
	if err := CheckPersonName(name); err != nil {
		return nil, false, err
	}
	o := Owner{ID: name}
	err := h.Store.Commit(ctx, record.Put(record.Record{Key: ownerKey(), Kind: KindOwner, Body: Encode(o)}, ""))
	first = err == nil
	if conflict := record.AsConflict(err); conflict != nil {
		was, _ := conflict.Winner(ownerKey())
		err = Decode(was, &o)
	}
	if err != nil {
		return nil, false, fmt.Errorf("find the owner: %w", err)
	}
	owner, err = h.EnsureAccount(ctx, o.ID)
	return owner, first, err
}

// Owner returns the owner of the hub's first account, or nil when nobody owns the hub yet. An owner whose account was not
// made, because whoever made the owner died meanwhile, gets it.
func (h *Hub) Owner(ctx context.Context) (*Caller, error) {
	rec, err := h.get(ctx, ownerKey())
	if err != nil || rec.Rev == "" {
		return nil, err
	}
	var o Owner
	if err := Decode(rec, &o); err != nil {
		return nil, err
	}
	return h.EnsureAccount(ctx, o.ID)
}

// EnsureAccount returns the person named name as the owner of an account, and makes both, in one Commit, unless they are
// there.
func (h *Hub) EnsureAccount(ctx context.Context, name string) (*Caller, error) {
	account := Account{Ref: h.AccountRef(ma2h.HumanPrefix + name), Owner: ma2h.HumanPrefix + name}
	person := Person{Ref: h.PersonRef(name), ID: name, Account: account.Ref}
	err := h.Store.Commit(ctx,
		record.Put(record.Record{Key: AccountKey(account.Ref), Kind: KindAccount, Body: Encode(account)}, ""),
		record.Put(personRecord(&person), ""))
	if err == nil {
		return &Caller{Account: account, Person: &person}, nil
	}
	if record.AsConflict(err) == nil {
		return nil, fmt.Errorf("make account: %w", err)
	}
	recs, err := h.Store.Get(ctx, AccountKey(account.Ref), PersonKey(person.Ref))
	if err != nil {
		return nil, fmt.Errorf("read account: %w", err)
	}
	if err := Decode(recs[0], &account); err != nil {
		return nil, err
	}
	return &Caller{Account: account, Person: &person}, Decode(recs[1], &person)
}

// personRecord returns the record for a person, in the list of the account's people.
func personRecord(p *Person) record.Record {
	r := record.Record{Key: PersonKey(p.Ref), Kind: KindPerson}
	if !p.Removed {
		r.Tags = [2]record.Tag{{Name: "person#" + p.Account, Order: p.Ref}}
	}
	if p.Epoch > 0 {
		p.Format = 2
	}
	r.Body = Encode(p)
	return r
}
