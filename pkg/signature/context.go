package signature

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Context is what a signature covers, all but the time and the nonce of one delivery (spec §9.2, §9.7, §9.8, §14.4). It
// can be signed or verified any number of times.
type Context struct {
	members []member // sorted by name, which for these names is the order of RFC 8785; t and jti among them
}

type member struct {
	name  string
	value jsontext.Value // canonical; nil for t and jti
}

// Response returns the context of a Response that is pushed to callbackURL (spec §9.2). The body is the Response exactly
// as it is sent. Where it has no response object, resolved_at is null, as spec §9.8 has it for entries.
//
// Here and below an error means that the body cannot have been signed: it is not the JSON object it ought to be.
func Response(body []byte, callbackURL string) (Context, error) {
	return build("response", body, func(b *builder) {
		b.given("callback_url", callbackURL)
		b.resolution()
	})
}

// EntryResponse returns the context of a response entry that is delivered to the session-qualified address to (spec
// §9.8). The body is the Response exactly as it stands in the entry; to comes from whom it is delivered to, never from
// the body.
func EntryResponse(body []byte, to string) (Context, error) {
	return build("response entry", body, func(b *builder) {
		b.given("to", to)
		b.resolution()
	})
}

// Directive returns the context of a directive (spec §9.7).
func Directive(body []byte) (Context, error) {
	return build("directive", body, func(b *builder) {
		b.strings("from", "id", "to")
		b.digest("payload_sha256", b.body.wrapped("directive", "title", "body", "priority", "tags", "context"))
	})
}

// Message returns the context of a message entry (spec §9.8).
func Message(body []byte) (Context, error) {
	return build("message entry", body, func(b *builder) {
		b.strings("from", "id", "to")
		b.digest("payload_sha256", b.body.wrapped("message", "type", "title", "body", "priority", "tags", "context",
			"request", "action", "sensitive"))
	})
}

// Receipt returns the context of a receipt entry that is delivered to the session-qualified address to (spec §9.8). A to
// in the body is not looked at.
func Receipt(body []byte, to string) (Context, error) {
	return build("receipt", body, func(b *builder) {
		b.given("to", to)
		b.strings("in_reply_to")
		b.digest("receipt_sha256", b.body.fixed("at", "event", "id", "in_reply_to", "prior", "session"))
	})
}

// Ack returns the context of an ack that is pushed to a person's client (spec §14.4).
func Ack(body []byte) (Context, error) {
	return build("ack", body, func(b *builder) {
		b.strings("by", "in_reply_to")
		b.digest("ack_sha256", b.body.fixed("acked_at", "by", "in_reply_to", "note", "resolution_id"))
	})
}

// builder gathers the members of a context and the first thing that was wrong.
type builder struct {
	body    object
	members []member
	err     error
}

func build(what string, body []byte, fill func(*builder)) (Context, error) {
	o, err := read(body)
	if err != nil {
		return Context{}, fmt.Errorf("read the %s: %w", what, err)
	}
	b := builder{body: o, members: make([]member, 0, 12)}
	b.members = append(b.members, member{name: "t"}, member{name: "jti"})
	b.strings("ma2h_version")
	fill(&b)
	if b.err != nil {
		return Context{}, fmt.Errorf("read the %s: %w", what, b.err)
	}
	slices.SortFunc(b.members, func(x, y member) int { return strings.Compare(x.name, y.name) })
	return Context{members: b.members}, nil
}

func (b *builder) add(name string, value jsontext.Value, err error) {
	if b.err == nil {
		b.err = err
	}
	b.members = append(b.members, member{name, value})
}

func (b *builder) given(name, value string) {
	q, err := quote(value)
	b.add(name, q, err)
}

func (b *builder) strings(names ...string) {
	for _, name := range names {
		v, err := b.body.text(name)
		b.add(name, v, err)
	}
}

func (b *builder) digest(name string, payload []byte) {
	v, err := digest(payload)
	b.add(name, v, err)
}

// resolution adds what the two contexts of a Response have in common. The message's id is what the Response replies to.
func (b *builder) resolution() {
	b.strings("in_reply_to", "resolution", "resolution_id")
	id, err := b.body.text("in_reply_to")
	b.add("id", id, err)
	b.digest("payload_sha256", b.body.fixed("response", "state"))
	at, err := b.resolvedAt()
	b.add("resolved_at", at, err)
}

func (b *builder) resolvedAt() (jsontext.Value, error) {
	detail := b.body.orNull("response")
	if detail.Kind() == 'n' {
		return detail, nil
	}
	o, err := read(detail)
	if err != nil {
		return nil, fmt.Errorf("member response: %w", err)
	}
	return o.text("resolved_at")
}

// Canonical returns the RFC 8785 form of the context with this time and nonce: the bytes that are signed. t stands there
// as a string of Unix seconds.
func (c Context) Canonical(t time.Time, jti string) []byte {
	var w writer
	w.Grow(512)
	for _, m := range c.members {
		switch m.name {
		case "t":
			m.value = jsontext.Value(`"` + strconv.FormatInt(t.Unix(), 10) + `"`)
		case "jti":
			m.value, _ = quote(jti) // an error means that it is no UTF-8, which no header lets through
		}
		w.member(m.name, m.value)
	}
	return w.end()
}

// Sign returns the header value of one delivery, signed at t with the nonce jti. Every delivery, a repeated one included,
// needs a nonce of its own: make it with ma2h.NewID(ma2h.PrefixNonce). The errors are ErrUnusable, and ErrMalformed for a
// nonce that cannot stand in a header.
func (c Context) Sign(key Signer, t time.Time, jti string) (string, error) {
	if !isNonce(jti) {
		return "", fmt.Errorf("sign with this nonce: %w", ErrMalformed)
	}
	mac, err := key.Sign(c.Canonical(t, jti))
	if err != nil {
		return "", err
	}
	return Header{Time: t, Nonce: jti, Signature: mac}.String(), nil
}

// Verify checks that header signs this context under any of keys (several during a rotation), at a time not more than
// window away from now on either side. It returns the parsed header, whose Nonce belongs into a Replays. The errors are
// ErrMalformed, ErrWindow and ErrMismatch.
func (c Context) Verify(header string, now time.Time, window time.Duration, keys ...Verifier) (Header, error) {
	h, err := ParseHeader(header)
	if err != nil {
		return Header{}, err
	}
	if now.Sub(h.Time).Abs() > window {
		return Header{}, ErrWindow
	}
	signed := c.Canonical(h.Time, h.Nonce)
	for _, key := range keys {
		if key.Verify(signed, h.Signature) {
			return h, nil
		}
	}
	return Header{}, ErrMismatch
}
