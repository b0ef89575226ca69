package endpoint

import (
	"fmt"
	"net/http"
)

// All returns every endpoint in a fixed order. The slice is the caller's own.
func All() []Endpoint {
	return append(protocol(), product()...)
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

// protocol is what MA2H itself knows. Every row with a hub behind it reads the key records, once a start.
func protocol() []Endpoint {
	return []Endpoint{
		{Name: Discovery, Method: http.MethodGet, Path: "/.well-known/ma2h", Caller: None},
		{Name: DiscoveryAlias, Method: http.MethodGet, Path: "/.well-known/ma2h-capability", Caller: None},
		{Name: JWKS, Method: http.MethodGet, Path: "/.well-known/jwks.json", Caller: None, Reads: kinds("key")},
		{Name: Healthz, Method: http.MethodGet, Path: "/healthz", Caller: None},
		{Name: Submit, Method: http.MethodPost, Path: "/v1/messages", Caller: Agent,
			Reads:  kinds("key", "agent", "account", "content", "state"),
			Writes: kinds("content", "state")},
		{Name: Pull, Method: http.MethodGet, Path: "/v1/messages/{id}", Caller: Agent,
			Reads:  kinds("key", "agent", "account", "content", "state"),
			Writes: kinds("content", "state")},
		{Name: Cancel, Method: http.MethodPost, Path: "/v1/messages/{id}/cancel", Caller: Agent,
			Reads:  kinds("key", "agent", "account", "content", "state"),
			Writes: kinds("content", "state")},
		{Name: Resolve, Method: http.MethodPost, Path: "/v1/messages/{id}/resolve", Caller: Either,
			Reads:  kinds("key", "agent", "login", "person", "account", "content", "state"),
			Writes: kinds("content", "state", "deed")},
		{Name: Ack, Method: http.MethodPost, Path: "/v1/messages/{id}/ack", Caller: Agent,
			Reads:  kinds("key", "agent", "account", "content", "state"),
			Writes: kinds("content", "state")},
	}
}

// product is what Mash adds, mostly for people.
func product() []Endpoint {
	return []Endpoint{
		{Name: Me, Method: http.MethodGet, Path: "/v1/me", Caller: Either,
			Reads: kinds("key", "agent", "login", "person", "account")},
		{Name: Waiting, Method: http.MethodGet, Path: "/v1/waiting", Caller: Person,
			Reads: kinds("key", "login", "person", "account", "state")},
		{Name: Read, Method: http.MethodGet, Path: "/v1/waiting/{id}", Caller: Person,
			Reads:  kinds("key", "login", "person", "account", "content", "state"),
			Writes: kinds("content", "state")},
		{Name: AgentList, Method: http.MethodGet, Path: "/v1/agents", Caller: Person,
			Reads: kinds("key", "login", "person", "account", "agent")},
		{Name: AgentAdd, Method: http.MethodPost, Path: "/v1/agents", Caller: Person,
			Reads:  kinds("key", "login", "person", "account", "agent"),
			Writes: kinds("agent", "deed")},
		{Name: AgentRotate, Method: http.MethodPost, Path: "/v1/agents/{agent}/rotate", Caller: Person,
			Reads:  kinds("key", "login", "person", "account", "agent"),
			Writes: kinds("agent", "deed")},
		{Name: AgentRevoke, Method: http.MethodDelete, Path: "/v1/agents/{agent}", Caller: Person,
			Reads:  kinds("key", "login", "person", "account", "agent"),
			Writes: kinds("agent", "deed")},
		{Name: SettingsPut, Method: http.MethodPut, Path: "/v1/settings", Caller: Person,
			Reads:  kinds("key", "login", "person", "account"),
			Writes: kinds("account", "deed")},
		{Name: Link, Method: http.MethodPost, Path: "/v1/links", Caller: Person,
			Reads:  kinds("key", "login", "person", "account"),
			Writes: kinds("login")},
	}
}

func kinds(names ...string) []string { return names }
