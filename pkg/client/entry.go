package client

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// EntryKind is what an entry of a mailbox is (spec §8.7.1).
type EntryKind string

// The kinds of entry. Without a session only directives are delivered.
const (
	KindDirective EntryKind = "directive" // from a person
	KindMessage   EntryKind = "message"   // from another agent of the account
	KindResponse  EntryKind = "response"  // the outcome of what this agent asked
	KindReceipt   EntryKind = "receipt"   // what became of a message that this agent sent
)

// Entry is one thing that a mailbox delivered, and that was verified: a *DirectiveEntry, *MessageEntry, *ResponseEntry or
// *ReceiptEntry. There are no others, and only a Mailbox makes them.
type Entry interface {
	Kind() EntryKind

	// Key is what the entry is acknowledged by (spec §8.7.1). The signature covers it.
	Key() string

	// Content is the entry as it was delivered. What of it is in no field of the entry is not signed: leave it alone (spec
	// §13.4).
	Content() jsontext.Value

	act() actedKey
}

// content is the part of an entry that all kinds have.
type content struct{ raw jsontext.Value }

// Content is the entry as it was delivered.
func (c content) Content() jsontext.Value { return c.raw }

// DirectiveEntry is what a person tells the agent (spec §13.1). CreatedAt, ExpiresAt and Sensitive are the hub's word and
// not signed (spec §9.7).
type DirectiveEntry struct {
	ma2h.Directive
	content
}

// MessageEntry is what another agent of the account tells or asks this one (spec §8.7.1). An ask or task comes only from those
// whom Mailbox.Policy allows (spec §13.4). Answer it by Mailbox.Resolve.
type MessageEntry struct {
	ID   string `json:"id"`
	From string `json:"from"` // the sender, attested by the hub: agent:<id> or agent:<id>#<session>

	// Message is what was sent. Agent, CreatedAt, ExpiresAt and IdempotencyKey are not signed; who sent it is From.
	ma2h.Message
	content
}

// ResponseEntry is the outcome of an ask or task of this session (spec §6). Agent is routing only and not signed.
// Defaulted has been set anew from the signed actor. To acknowledge it is to acknowledge the Response.
type ResponseEntry struct {
	ma2h.Response
	content
}

// ReceiptEntry says what became of a message that this session sent (spec §8.7.1). It asks for nothing; Pull tells the same.
type ReceiptEntry struct {
	ma2h.Receipt
	content
}

// Kind is KindDirective.
func (e *DirectiveEntry) Kind() EntryKind { return KindDirective }

// Kind is KindMessage.
func (e *MessageEntry) Kind() EntryKind { return KindMessage }

// Kind is KindResponse.
func (e *ResponseEntry) Kind() EntryKind { return KindResponse }

// Kind is KindReceipt.
func (e *ReceiptEntry) Kind() EntryKind { return KindReceipt }

// Key is the directive's id.
func (e *DirectiveEntry) Key() string { return e.ID }

// Key is the message's id.
func (e *MessageEntry) Key() string { return e.ID }

// Key is the resolution_id.
func (e *ResponseEntry) Key() string { return e.ResolutionID }

// Key is the receipt's id.
func (e *ReceiptEntry) Key() string { return e.ID }

func (e *DirectiveEntry) act() actedKey { return actedKey{KindDirective, e.ID, ""} }
func (e *MessageEntry) act() actedKey   { return actedKey{KindMessage, e.ID, ""} }
func (e *ResponseEntry) act() actedKey  { return actedKey{KindResponse, e.InReplyTo, e.ResolutionID} }
func (e *ReceiptEntry) act() actedKey   { return actedKey{KindReceipt, e.InReplyTo, e.Event} }
