package schema_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// breeder makes mutants of the known documents. Two breeders of one seed make the same ones.
type breeder struct {
	rng     *rand.Rand
	seeds   []tableCase
	byKind  map[ma2h.Kind][]tableCase
	names   []string         // member names of the seeds
	values  map[string][]any // what the seeds hold under a name
	strings []string
}

var edges = []string{
	"", " ", "x", "0", "0.", "0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.9", "0.10", "0.05", "0.40", "00.4", "0.4.0", "1.0", "0.6 ", "0.x",
	"agent:", "agent:a", "agent:a#", "agent:a#sess_", "agent:a#sess_1#2", "agent:#sess_1", "agent:a#b", "agent:\n", "human:", "human:a", "human:a#b",
	"system:x", "system:default_on_expire", "system:undeliverable", ":", "robot:a", "agent:human:a", "Agent:a",
	"sess_", "sess", "sess_1", "dir_1", "msg_1", "res_1", "rcpt_1", "Msg_1", "a#b", "#",
	"2026-03-01T08:00:00Z", "2026-03-01T08:00:00.1Z", "2026-03-01T08:00:00.Z", "2026-03-01T24:00:00Z", "2026-03-01T08:00:60Z", "2026-02-29T08:00:00Z",
	"2024-02-29T08:00:00+14:00", "2026-03-01T08:00:00+24:00", "2026-03-01 08:00:00Z", "2026-03-01T08:00:00z", "2026-03-01T08:00:00,5Z", "2026-03-01",
	"0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "https://a.example/", "null", "true", "\u0000", "\u2028", "é", "😀",
	strings.Repeat("x", 199), strings.Repeat("x", 200), strings.Repeat("x", 201), strings.Repeat("é", 200), strings.Repeat("é", 201),
	strings.Repeat("😀", 200), strings.Repeat("😀", 201),
}

var numbers = []json.Number{
	"0", "-0", "1", "-1", "2", "1.0", "1e0", "10e-1", "1.5", "0.5", "-0.0", "0e9", "1E2", "1e-1", "100e-2", "105e-1", "900", "1e300", "-1e300",
	"9007199254740993", "0.1", "0.10", "1e-1", "1e-320", "120", "12e1", "1.20e2",
}

// newBreeder gathers what the seeds are made of.
func newBreeder(seeds []tableCase, seed, stream uint64) *breeder {
	b := &breeder{rng: rand.New(rand.NewPCG(seed, stream)), seeds: seeds, byKind: map[ma2h.Kind][]tableCase{}, values: map[string][]any{}}
	found := map[string]bool{}
	for _, c := range seeds {
		b.gather(c.document, found)
		b.byKind[c.kind] = append(b.byKind[c.kind], c)
	}
	b.names = slices.Sorted(maps.Keys(b.values))
	b.strings = append(slices.Sorted(maps.Keys(found)), edges...)
	return b
}

func (b *breeder) gather(v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(b.values[name]) < 200 {
				b.values[name] = append(b.values[name], v[name])
			}
			b.gather(v[name], found)
		}
	case []any:
		for _, e := range v {
			b.gather(e, found)
		}
	case string:
		found[v] = true
	}
}

func pick[T any](b *breeder, from []T) T { return from[b.rng.IntN(len(from))] }

// mutant returns a document with one to three changes, and what to hold it to: mostly what its seed was held to.
func (b *breeder) mutant() (target, any) {
	seed := b.seed()
	tg := seed.target
	switch b.rng.IntN(20) {
	case 0, 1, 2:
		k := kinds[slices.IndexFunc(kinds, func(k kindSince) bool { return k.kind == tg.kind })]
		tg.minor = k.since + b.rng.IntN(newest-k.since+1)
	case 3:
		k := pick(b, kinds)
		tg = target{k.kind, k.since + b.rng.IntN(newest-k.since+1)}
	}
	v := copied(seed.document, "0.N")
	for range 1 + b.rng.IntN(3) {
		v = b.change(v)
	}
	return tg, v
}

// seed picks a document, mostly a valid one. Half the time every kind is as likely as any other, half the time the kinds
// with the most rules are likelier.
func (b *breeder) seed() tableCase {
	from := b.seeds
	if b.rng.IntN(2) == 0 {
		from = b.byKind[pick(b, kinds).kind]
	}
	seed := pick(b, from)
	for !seed.valid && b.rng.IntN(4) > 0 {
		seed = pick(b, from)
	}
	return seed
}

// change changes one place of the document; deep places as likely as others.
func (b *breeder) change(v any) any {
	if b.rng.IntN(8) > 0 {
		switch v := v.(type) {
		case map[string]any:
			if len(v) > 0 {
				name := pick(b, slices.Sorted(maps.Keys(v)))
				if below(v[name]) && b.rng.IntN(3) > 0 {
					v[name] = b.change(v[name])
					return v
				}
			}
			return b.changeObject(v)
		case []any:
			if len(v) > 0 && b.rng.IntN(3) > 0 {
				i := b.rng.IntN(len(v))
				v[i] = b.change(v[i])
				return v
			}
			return b.changeArray(v)
		}
	}
	return b.value()
}

// below says whether a value has places below it.
func below(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}

func (b *breeder) changeObject(o map[string]any) any {
	if len(o) == 0 {
		o[b.name()] = b.value()
		return o
	}
	name := pick(b, slices.Sorted(maps.Keys(o)))
	switch b.rng.IntN(10) {
	case 0, 1:
		delete(o, name)
	case 2:
		o[b.name()] = o[name] // the same value twice
	case 3:
		v := o[name]
		delete(o, name)
		o[b.name()] = v
	case 4:
		o[name] = b.value()
	case 5, 6:
		other := pick(b, b.names)
		o[other] = copied(pick(b, b.values[other]), "0.6")
	case 7, 8:
		if known := b.values[name]; known != nil {
			o[name] = copied(pick(b, known), "0.6")
		}
	default:
		o["x-"+pick(b, b.names)] = b.value() // a member that nobody knows
	}
	return o
}

func (b *breeder) changeArray(a []any) any {
	switch n := len(a); {
	case n == 0 || b.rng.IntN(4) == 0:
		return append(a, b.value())
	case b.rng.IntN(3) == 0:
		return slices.Delete(a, 0, 1)
	case b.rng.IntN(2) == 0:
		return append(a, copied(pick(b, a), "0.6"))
	default:
		i, j := b.rng.IntN(n), b.rng.IntN(n)
		a[i], a[j] = a[j], a[i]
		return a
	}
}

func (b *breeder) name() string {
	switch name := pick(b, b.names); b.rng.IntN(12) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return name + " "
	case 2:
		return ""
	default:
		return name
	}
}

// value returns any value: of every type, and often a string or something that the seeds hold somewhere.
func (b *breeder) value() any {
	switch b.rng.IntN(12) {
	case 0:
		return nil
	case 1:
		return b.rng.IntN(2) == 0
	case 2, 3:
		return pick(b, numbers)
	case 4, 5, 6, 7:
		return pick(b, b.strings)
	case 8:
		return []any{}
	case 9:
		return map[string]any{}
	default:
		return copied(pick(b, b.values[pick(b, b.names)]), "0.6")
	}
}
