package dynamostore

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/record"
)

// The attributes of an item. All but the first four are left out where a record has no such thing, which keeps it out of
// the index concerned.
const (
	attrPart  = "pk"    // the namespace and Key.Part
	attrSort  = "sk"    // Key.Sort
	attrRev   = "rev"   // Record.Rev
	attrKind  = "kind"  // Record.Kind
	attrBody  = "body"  // Record.Body, as it is
	attrShard = "shard" // the namespace and which of the shards of Due the record is in
	attrDue   = "due"   // Record.Due in the form of record.DueOrder
	attrErase = "erase" // Record.Erase in seconds, the table's time to live
)

// attrTag and attrPlace name the attributes of a Tag: its name with the namespace before it, and its order followed by
// the record's key, which makes every place unique and so the order complete.
func attrTag(place int) string   { return "tag" + strconv.Itoa(place) }
func attrPlace(place int) string { return "place" + strconv.Itoa(place) }

// shards is into how many partitions the index of Due is spread, since all workers read and all timers write it. A change
// needs every due record to be written anew.
const shards = 16

// item is a record as DynamoDB has it.
type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func (s *Store) itemKey(k record.Key) item {
	return item{attrPart: text(s.namespace + k.Part), attrSort: text(k.Sort)}
}

// item returns the record as it is stored.
func (s *Store) item(r record.Record) item {
	i := s.itemKey(r.Key)
	i[attrRev], i[attrKind] = text(r.Rev), text(r.Kind)
	if len(r.Body) > 0 {
		i[attrBody] = body(r.Body)
	}
	for n, t := range r.Tags {
		if t != (record.Tag{}) {
			i[attrTag(n+1)] = text(s.namespace + t.Name)
			i[attrPlace(n+1)] = text(placeOf(record.Entry{Key: r.Key, Order: t.Order}))
		}
	}
	if !r.Due.IsZero() {
		i[attrShard], i[attrDue] = text(s.shard(shardOf(r.Key))), text(record.DueOrder(r.Due))
	}
	if !r.Erase.IsZero() {
		i[attrErase] = &types.AttributeValueMemberN{Value: strconv.FormatInt(record.EraseSecond(r.Erase), 10)}
	}
	return i
}

// record returns what is stored as an item.
func (s *Store) record(i item) (record.Record, error) {
	r := record.Record{Key: s.key(i), Rev: str(i, attrRev), Kind: str(i, attrKind)}
	switch b := i[attrBody].(type) {
	case *types.AttributeValueMemberS:
		r.Body = []byte(b.Value)
	case *types.AttributeValueMemberB:
		r.Body = b.Value
	}
	for n := range r.Tags {
		if name, ok := i[attrTag(n+1)]; ok && name != nil {
			r.Tags[n].Name = strings.TrimPrefix(str(i, attrTag(n+1)), s.namespace)
			r.Tags[n].Order = orderOf(str(i, attrPlace(n+1)), r.Key)
		}
	}
	if due := str(i, attrDue); due != "" {
		at, err := record.DueTime(due)
		if err != nil {
			return record.Record{}, fmt.Errorf("item %s: %w", r.Key, err)
		}
		r.Due = at
	}
	if n, ok := i[attrErase].(*types.AttributeValueMemberN); ok {
		second, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			return record.Record{}, fmt.Errorf("item %s: erase: %w", r.Key, err)
		}
		r.Erase = time.Unix(second, 0).UTC()
	}
	return r, nil
}

// body stores what is text as text: people can read it where they look at the table, and it travels without base64, a
// third longer, which the emulator would also count.
func body(b []byte) types.AttributeValue {
	if utf8.Valid(b) {
		return text(string(b))
	}
	return &types.AttributeValueMemberB{Value: b}
}

func (s *Store) key(i item) record.Key {
	return record.Key{Part: strings.TrimPrefix(str(i, attrPart), s.namespace), Sort: str(i, attrSort)}
}

func str(i item, name string) string {
	s, ok := i[name].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

// placeOf joins an entry's order and key so that the bytes of the whole are ordered as the three are one after the
// other: NUL is less than any byte that they may have.
func placeOf(e record.Entry) string { return e.Order + "\x00" + e.Key.Part + "\x00" + e.Key.Sort }

// orderOf is what placeOf began with.
func orderOf(place string, k record.Key) string {
	return strings.TrimSuffix(place, placeOf(record.Entry{Key: k}))
}

func (s *Store) shard(n uint32) string { return fmt.Sprintf("%sdue#%x", s.namespace, n) }

func shardOf(k record.Key) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.Part + "\x00" + k.Sort))
	return h.Sum32() % shards
}
