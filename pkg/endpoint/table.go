package endpoint

import (
	"fmt"
	"net/http"
	"slices"
)

// All returns every endpoint in a fixed order. The slice is the caller's own.
func All() []Endpoint {
	return slices.Concat(protocol(), product(), callbacks(), mailboxes(), sessions())
}

// Routed returns the endpoints that a gateway has a route to, which collects an answer before it passes it on.
func Routed() []Endpoint {
	return slices.DeleteFunc(All(), func(e Endpoint) bool { return e.Streamed })
}

// Of returns the endpoint with the given name, and panics when there is none: names are constants of this package.
func Of(name Name) Endpoint {
	for _, e := range All() {
		if e.Name == name {
			return e
		}
	}
	panic(fmt.Sprintf("endpoint: no endpoint %q", name))
}

// A caller of the wrong kind is told so only when the credential is good, and otherwise that it is not. So every endpoint
// with callers reads of agents as of people.
func callers(and ...string) []string {
	return append(and, kindAccount, kindAgent, kindLogin, kindPerson)
}

// protocol is what MA2H itself knows. Whoever reads a message settles it first.
func protocol() []Endpoint {
	message := settling().and(Access{Get: callers()})
	submit := message.and(Access{
		Get: kinds(kindLimited), List: kinds(kindKey, kindRow), Put: kinds(kindContent, kindLimited), Indexes: []Index{{IndexSecond, kinds("open#")}}, Unwraps: true,
	})
	pull := message.and(Access{Get: kinds(kindSeen), Put: kinds(kindSeen)})
	resolve := message.and(Access{Put: kinds(kindDeed)})
	return []Endpoint{
		{Name: Discovery, Method: http.MethodGet, Path: "/.well-known/ma2h", Caller: None},
		{Name: DiscoveryAlias, Method: http.MethodGet, Path: "/.well-known/ma2h-capability", Caller: None},
		{Name: JWKS, Method: http.MethodGet, Path: "/.well-known/jwks.json", Caller: None,
			Access: Access{List: kinds(kindKey), Unwraps: true}},
		{Name: Healthz, Method: http.MethodGet, Path: "/healthz", Caller: None},
		{Name: Readyz, Method: http.MethodGet, Path: "/readyz", Caller: None,
			Access: Access{List: kinds(kindKey), Unwraps: true}},
		{Name: Submit, Method: http.MethodPost, Path: "/v1/messages", Caller: Agent, Access: submit},
		{Name: Pull, Method: http.MethodGet, Path: "/v1/messages/{id}", Caller: Agent, Access: pull},
		{Name: Cancel, Method: http.MethodPost, Path: "/v1/messages/{id}/cancel", Caller: Agent, Access: message},
		{Name: Resolve, Method: http.MethodPost, Path: "/v1/messages/{id}/resolve", Caller: Either, Access: resolve},
		{Name: Ack, Method: http.MethodPost, Path: "/v1/messages/{id}/ack", Caller: Agent, Access: message},
	}
}

// product is what Mash adds, mostly for people.
func product() []Endpoint {
	agents := Access{Get: callers(), List: kinds(kindKey), Put: kinds(kindAgent, kindDeed), Unwraps: true}
	return []Endpoint{
		{Name: Me, Method: http.MethodGet, Path: "/v1/me", Caller: Either, Access: Access{Get: callers()}},
		{Name: Waiting, Method: http.MethodGet, Path: "/v1/waiting", Caller: Person,
			Access: Access{Get: callers(kindState), Indexes: []Index{{IndexFirst, kinds("open#")}}}},
		{Name: Read, Method: http.MethodGet, Path: "/v1/waiting/{id}", Caller: Person,
			Access: settling().and(Access{Get: callers()})},
		{Name: AgentList, Method: http.MethodGet, Path: "/v1/agents", Caller: Person,
			Access: Access{Get: callers(), Indexes: []Index{{IndexFirst, kinds("agent#")}}}},
		{Name: AgentAdd, Method: http.MethodPost, Path: "/v1/agents", Caller: Person, Access: agents},
		{Name: AgentRotate, Method: http.MethodPost, Path: "/v1/agents/{agent}/rotate", Caller: Person, Access: agents},
		{Name: AgentRevoke, Method: http.MethodDelete, Path: "/v1/agents/{agent}", Caller: Person, Access: agents},
		{Name: PersonList, Method: http.MethodGet, Path: "/v1/people", Caller: Person,
			Access: Access{Get: callers(), List: kinds(kindKey), Unwraps: true,
				Indexes: []Index{{IndexFirst, kinds("invite#", "person#")}}}},
		{Name: PersonInvite, Method: http.MethodPost, Path: "/v1/people", Caller: Person, Access: Access{
			Get: callers(), List: kinds(kindKey), Put: kinds(kindDeed, kindLogin), Unwraps: true,
			Indexes: []Index{{IndexFirst, kinds("invite#")}}}},
		{Name: PersonRemove, Method: http.MethodDelete, Path: "/v1/people/{id}", Caller: Person, Access: Access{
			Get: callers(), Put: kinds(kindAccount, kindDeed, kindPerson), Erase: kinds(kindLogin), Check: kinds(kindAccount)}},
		{Name: SettingsRead, Method: http.MethodGet, Path: "/v1/settings", Caller: Person, Access: Access{Get: callers()}},
		{Name: SettingsPut, Method: http.MethodPut, Path: "/v1/settings", Caller: Person,
			Access: Access{Get: callers(), Put: kinds(kindAccount, kindDeed)}},
		{Name: Link, Method: http.MethodPost, Path: "/v1/links", Caller: Person,
			Access: Access{Get: callers(), Put: kinds(kindLogin)}},
	}
}

// callbacks is what people do about where answers go. Bodies and a query name the agent: a gateway may not tell two paths of
// one method apart that have an agent's id, for that may have slashes.
func callbacks() []Endpoint {
	agents := Access{Get: callers(), List: kinds(kindKey), Put: kinds(kindAgent, kindDeed), Unwraps: true}
	read := Access{Get: callers(kindLive), List: kinds(kindKey), Unwraps: true}
	again := settling().and(Access{Get: callers(), Put: kinds(kindDeed)})
	return []Endpoint{
		{Name: AgentRead, Method: http.MethodGet, Path: "/v1/agent", Caller: Person, Access: read},
		{Name: HostBind, Method: http.MethodPost, Path: "/v1/hosts", Caller: Person, Access: agents},
		{Name: HostUnbind, Method: http.MethodPost, Path: "/v1/hosts/remove", Caller: Person, Access: agents},
		{Name: SecretAdd, Method: http.MethodPost, Path: "/v1/secrets", Caller: Person, Access: agents},
		{Name: SecretUse, Method: http.MethodPost, Path: "/v1/secrets/use", Caller: Person, Access: agents},
		{Name: SecretRemove, Method: http.MethodPost, Path: "/v1/secrets/remove", Caller: Person, Access: agents},
		{Name: WebhookPut, Method: http.MethodPost, Path: "/v1/webhooks", Caller: Person, Access: agents},
		{Name: SendAgain, Method: http.MethodPost, Path: "/v1/waiting/{id}/send-again", Caller: Person, Access: again},
	}
}

// sessions is what agents and people do about sessions. Whoever reads one may have to end it at the end of its lease.
func sessions() []Endpoint {
	ending := Access{Get: callers(kindLive, kindSession), Put: kinds(kindLive, kindSession)}
	list := ending
	list.Indexes = []Index{{IndexFirst, kinds("sess#")}, {IndexSecond, kinds("sess#")}}
	byPeople := ending.and(bouncing()).and(Access{Put: kinds(kindDeed)})
	return []Endpoint{
		{Name: SessionAdd, Method: http.MethodPost, Path: "/v1/sessions", Caller: Agent, Access: ending},
		{Name: SessionList, Method: http.MethodGet, Path: "/v1/sessions", Caller: Either, Access: list},
		{Name: SessionRead, Method: http.MethodGet, Path: "/v1/sessions/{id}", Caller: Either, Access: ending},
		{Name: SessionClose, Method: http.MethodDelete, Path: "/v1/sessions/{id}", Caller: Either, Access: byPeople},
		{Name: Presence, Method: http.MethodGet, Path: "/v1/agents/{agent}/presence", Caller: Person,
			Access: Access{Get: callers(kindLive, kindSeen, kindSession), List: kinds(kindKey), Unwraps: true}},
		{Name: AgentStop, Method: http.MethodPost, Path: "/v1/stops", Caller: Person,
			Access: byPeople.and(Access{List: kinds(kindKey), Unwraps: true})},
		{Name: StopLift, Method: http.MethodPost, Path: "/v1/stops/lift", Caller: Person,
			Access: Access{Get: callers(kindLive), List: kinds(kindKey), Put: kinds(kindDeed, kindLive), Unwraps: true}},
	}
}

func kinds(names ...string) []string { return names }
