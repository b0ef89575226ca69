// Package endpoint is the one table of Mash's HTTP interface: the name, method and path of each endpoint, who may call
// it, and what it does with records. The server mounts it, the client fills its paths, and the infrastructure derives
// routes and permissions from it, so that the three cannot drift apart. Functions that are no endpoint stand beside it.
package endpoint

import (
	"fmt"
	"net/url"
	"strings"
)

// Name identifies an endpoint in code, configuration and metrics: lower case, words joined by hyphens.
type Name string

// The endpoints of the protocol (spec §8.0 to §8.8, §14.3), and those that only operate the hub.
const (
	Discovery      Name = "discovery"       // the capability document (spec §8.0)
	DiscoveryAlias Name = "discovery-alias" // the same under its longer name
	JWKS           Name = "jwks"            // the hub's public signing keys
	Healthz        Name = "healthz"         // says that the process answers
	Readyz         Name = "readyz"          // says that the hub can do its work
	Submit         Name = "submit"          // spec §8.1
	Pull           Name = "pull"            // spec §8.2
	Cancel         Name = "cancel"          // spec §8.4
	Resolve        Name = "resolve"         // spec §8.8
	Ack            Name = "ack"             // spec §14.3
)

// The product's own endpoints: one for whoever has a credential, the others for people only.
const (
	Me           Name = "me"            // who the caller is, and who owns the account
	Waiting      Name = "waiting"       // what waits for the person
	Read         Name = "read"          // one message, as the person who may answer it sees it
	AgentList    Name = "agent-list"    // the account's agents
	AgentAdd     Name = "agent-add"     // a new agent with its first token
	AgentRotate  Name = "agent-rotate"  // a new token for an agent, beside the one before
	AgentRevoke  Name = "agent-revoke"  // the end of an agent
	AgentRead    Name = "agent-read"    // one agent, with its callback hosts and the names of its secrets
	PersonList   Name = "person-list"   // the account's people and open invitations
	PersonInvite Name = "person-invite" // an invitation with its link
	PersonRemove Name = "person-remove" // the end of a person, or of an invitation
	SettingsRead Name = "settings-read" // the account's settings
	SettingsPut  Name = "settings-put"  // and what an owner changes of them
	Link         Name = "link"          // a fresh link that signs the person in
)

// Those about callbacks, for people.
const (
	HostBind     Name = "host-bind"     // a host becomes an agent's own
	HostUnbind   Name = "host-unbind"   // and is no longer
	SecretAdd    Name = "secret-add"    // a secret of an agent, the first of its name or the next
	SecretUse    Name = "secret-use"    // the next one is used from now on
	SecretRemove Name = "secret-remove" // the end of a secret
	SendAgain    Name = "send-again"    // a Response is pushed again
	WebhookPut   Name = "webhook-put"   // where what people tell an agent is pushed (spec §8.7)
)

// Those about sessions and about whether an agent is there (spec §15.3, §16).
const (
	SessionAdd   Name = "session-add"   // a new session of an agent
	SessionList  Name = "session-list"  // sessions
	SessionRead  Name = "session-read"  // one session
	SessionClose Name = "session-close" // the end of a session
	Presence     Name = "presence"      // whether an agent can be reached
	AgentStop    Name = "agent-stop"    // the end of all sessions of an agent, which begins no other
	StopLift     Name = "stop-lift"     // and now does again
)

// Caller is the kind of principal that an endpoint is for.
type Caller string

// The kinds of caller. An endpoint for None answers without a credential.
const (
	None   Caller = "none"
	Agent  Caller = "agent"
	Person Caller = "person"
	Either Caller = "either" // an agent or a person
)

// Endpoint is one row of the table.
type Endpoint struct {
	Name   Name
	Method string // of HTTP, in capitals
	Path   string // absolute; a segment {id} or {agent} stands for one percent-encoded id
	Caller Caller // who may call it
	Access Access // what it does with records, authentication included

	Streamed bool // its answer is read while it is written: no gateway that collects answers leads there
}

// Pattern returns the method and path in the form that http.ServeMux takes.
func (e Endpoint) Pattern() string { return e.Method + " " + e.Path }

// Fill returns the path with its segments in braces replaced, in order, by ids: percent-encoded, since an id may contain
// anything, a slash or a # included. It panics unless there are exactly as many ids as segments; an empty id makes a
// path that no endpoint has.
func (e Endpoint) Fill(ids ...string) string {
	segments := strings.Split(e.Path, "/")
	left := ids
	for i, s := range segments {
		if !strings.HasPrefix(s, "{") {
			continue
		}
		if len(left) == 0 {
			panic(fmt.Sprintf("endpoint: %s needs more than %d ids", e.Name, len(ids)))
		}
		segments[i], left = escape(left[0]), left[1:]
	}
	if len(left) > 0 {
		panic(fmt.Sprintf("endpoint: %s takes fewer than %d ids", e.Name, len(ids)))
	}
	return strings.Join(segments, "/")
}

// escape encodes a segment so that it stays one. Lone dots would be taken for a relative path and cleaned away.
func escape(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}
