package endpoint

import "net/http"

// Those of an agent's mailbox (spec §8.7, §13). What reads it is called drain, since the worker of the pages is the inbox.
const (
	Drain    Name = "drain"     // what waits for an agent (spec §8.7)
	Stream   Name = "stream"    // the same, pushed over a connection that is held (spec §8.7.2)
	InboxAck Name = "inbox-ack" // the agent has done with it (spec §8.7, §14.3)

	DirectiveSend Name = "directive-send" // a person's word to an agent (spec §13)
	DirectiveRead Name = "directive-read" // and what became of it
	AllowlistPut  Name = "allowlist-put"  // which agents may write to an agent (spec §8.0)
)

// settling is what whoever reads a message may have to do: end the leases of its two sessions, its mail, and itself, tell the
// sender's session of it, and delete it at the end of its retention.
func settling() Access {
	return Access{
		Get: kinds(kindContent, kindLive, kindRow, kindSession, kindState),
		Put: kinds(kindLive, kindRow, kindSession, kindState), Erase: kinds(kindContent, kindRow),
	}
}

// settlingDirectives is settling for a directive, of whose end nobody is told.
func settlingDirectives() Access {
	return Access{
		Get: kinds(kindDirective, kindLive, kindRow, kindSession),
		Put: kinds(kindDirective, kindLive, kindSession), Erase: kinds(kindDirective, kindRow),
	}
}

// bouncing is what whoever ends a session does with what waits for it.
func bouncing() Access {
	return Access{
		Get: kinds(kindContent, kindDirective, kindSession, kindRow, kindState), List: kinds(kindRow),
		Put: kinds(kindDirective, kindRow, kindState), Erase: kinds(kindRow),
	}
}

// mailboxes is the inbound leg, and who may write to whom.
func mailboxes() []Endpoint {
	drain := Access{
		Get: callers(kindContent, kindDirective, kindLive, kindSeen, kindSession, kindState), List: kinds(kindKey, kindRow),
		Put: kinds(kindLive, kindRow, kindSeen, kindSession, kindState), Unwraps: true,
		Listens: true,
	}
	stream := Access{
		Get: callers(kindContent, kindDirective, kindLive, kindSession, kindState), List: kinds(kindKey, kindRow),
		Put: kinds(kindLive, kindRow, kindSession), Unwraps: true, Listens: true,
	}
	ack := settling().and(settlingDirectives()).and(Access{Get: callers()})
	send := settlingDirectives().and(Access{Get: callers(), List: kinds(kindKey, kindRow), Put: kinds(kindDeed, kindRow), Unwraps: true})
	send.Erase = kinds(kindRow) // nothing that is new is deleted
	read := settlingDirectives().and(Access{Get: callers()})
	return []Endpoint{
		{Name: Drain, Method: http.MethodGet, Path: "/v1/inbox", Caller: Agent, Access: drain},
		{Name: Stream, Method: http.MethodGet, Path: "/v1/inbox/stream", Caller: Agent, Access: stream, Streamed: true},
		{Name: InboxAck, Method: http.MethodPost, Path: "/v1/inbox/ack", Caller: Agent, Access: ack},
		{Name: DirectiveSend, Method: http.MethodPost, Path: "/v1/directives", Caller: Person, Access: send},
		{Name: DirectiveRead, Method: http.MethodGet, Path: "/v1/directives/{id}", Caller: Person, Access: read},
		{Name: AllowlistPut, Method: http.MethodPost, Path: "/v1/allowlists", Caller: Person,
			Access: Access{Get: callers(), List: kinds(kindKey), Put: kinds(kindAgent, kindDeed), Unwraps: true}},
	}
}
