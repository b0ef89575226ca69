package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// The errors of an entry that was delivered and cannot be taken, beside those of package signature.
var (
	ErrMisshapen    = errors.New("client: the entry has not the shape of one")
	ErrMisaddressed = errors.New("client: the entry is for somebody else")
)

// verify checks one element of a drain's answer, in the order of spec §13.4, and returns what it carries.
func (b *Mailbox) verify(ctx context.Context, me ma2h.Address, element map[string]jsontext.Value) (Entry, error) {
	kind, body, err := contentOf(element)
	if err != nil {
		return nil, err
	}
	var header string
	if json.Unmarshal(element["signature"], &header) != nil {
		return nil, fmt.Errorf("verify the %s: %w", kind, signature.ErrMalformed)
	}
	if err := b.authentic(ctx, kind, body, header, me); err != nil {
		return nil, fmt.Errorf("verify the %s: %w", kind, err)
	}
	e, err := read(kind, body)
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", kind, err)
	}
	if !addressed(e, me) {
		return nil, fmt.Errorf("read the %s %s: %w", kind, e.Key(), ErrMisaddressed)
	}
	return e, nil
}

// contentOf returns the one content of an element, and its kind.
func contentOf(element map[string]jsontext.Value) (kind EntryKind, body jsontext.Value, _ error) {
	for _, k := range []EntryKind{KindDirective, KindMessage, KindResponse, KindReceipt} {
		v, ok := element[string(k)]
		if ok && kind != "" {
			return "", nil, fmt.Errorf("an entry that is both %s and %s: %w", kind, k, ErrMisshapen)
		}
		if ok {
			kind, body = k, v
		}
	}
	if kind == "" {
		return "", nil, fmt.Errorf("an entry of no kind that is known: %w", ErrMisshapen)
	}
	return kind, body, nil
}

// authentic checks the signature, and that it came for the first time.
func (b *Mailbox) authentic(ctx context.Context, kind EntryKind, body []byte, header string, me ma2h.Address) error {
	covered, err := covers(kind, body, me.String())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMisshapen, err)
	}
	window := b.Window
	if window <= 0 {
		window = signature.Window
	}
	signed, err := b.hubKeys.verify(ctx, b.Client, delivery{covered, header, b.Client.now(), window}, b.given())
	if err != nil {
		return err
	}
	b.once.Do(func() { b.replays.TTL, b.replays.Now = 2*window, b.Client.Now })
	return b.replays.Add(signed.Nonce)
}

func (b *Mailbox) given() []signature.Verifier {
	var keys []signature.Verifier
	for _, s := range b.Secrets {
		keys = append(keys, signature.HMAC(s))
	}
	return append(keys, publicKeys(b.PublicKeys)...)
}

// covers is what the signature of an entry must cover when it is delivered to this address (spec §9.7, §9.8).
func covers(kind EntryKind, body []byte, to string) (signature.Context, error) {
	switch kind {
	case KindDirective:
		return signature.Directive(body)
	case KindMessage:
		return signature.Message(body)
	case KindResponse:
		return signature.EntryResponse(body, to)
	default:
		return signature.Receipt(body, to)
	}
}

// read decodes an entry of the shape of its kind. A signature covers not all of a body, so only the shape keeps out what was
// added to it (spec §13.4).
func read(kind EntryKind, body jsontext.Value) (Entry, error) {
	d, o, invalid := ma2h.ParseObject(body)
	if invalid != nil {
		return nil, fmt.Errorf("%w: %w", ErrMisshapen, invalid)
	}
	declared, _ := o["ma2h_version"].(string)
	version, invalid := ma2h.ParseVersion(declared)
	if invalid != nil {
		return nil, fmt.Errorf("%w: %w", ErrMisshapen, invalid)
	}
	if invalid := ma2h.Shape(ma2h.KindInboundMessage, version.SchemaMinor(), d.Value); invalid != nil {
		return nil, fmt.Errorf("%w: %w", ErrMisshapen, invalid)
	}
	if kindOf(o) != kind {
		return nil, fmt.Errorf("%w: it comes as a %s and is a %s", ErrMisshapen, kind, kindOf(o))
	}
	return decodeEntry(kind, body)
}

// kindOf is the kind that a body of the right shape says it is.
func kindOf(o map[string]any) EntryKind {
	switch t, _ := o["type"].(string); {
	case t == string(KindDirective) || t == string(KindReceipt):
		return EntryKind(t)
	case t == "":
		return KindResponse
	}
	return KindMessage
}

func decodeEntry(kind EntryKind, body jsontext.Value) (Entry, error) {
	c := content{slices.Clone(body)}
	switch kind {
	case KindDirective:
		e := &DirectiveEntry{content: c}
		return e, decode(body, &e.Directive)
	case KindMessage:
		e := &MessageEntry{content: c}
		attested := struct {
			ID   *string `json:"id"`
			From *string `json:"from"`
		}{&e.ID, &e.From}
		if err := decode(body, &attested); err != nil {
			return nil, err
		}
		return e, decode(body, &e.Message)
	case KindResponse:
		e := &ResponseEntry{content: c}
		err := decode(body, &e.Response)
		e.Defaulted = e.Response.Response != nil && e.Response.Response.Actor == ma2h.ActorDefaultOnExpire
		return e, err
	default:
		e := &ReceiptEntry{content: c}
		return e, decode(body, &e.Receipt)
	}
}

// addressed says whether an entry is for this agent and, where it names a session, for this one. Of responses and receipts
// the signature says it, since it covers the address they were delivered to.
func addressed(e Entry, me ma2h.Address) bool {
	var to string
	switch e := e.(type) {
	case *DirectiveEntry:
		to = e.To
	case *MessageEntry:
		to = e.To
	default:
		return true
	}
	a, ok := ma2h.ParseAddress(to)
	if !ok { // before 0.5 an id might have a # in it, and an address had no session
		return to == ma2h.AgentPrefix+me.AgentID
	}
	return a.AgentID == me.AgentID && (a.Session == "" || a.Session == me.Session)
}
