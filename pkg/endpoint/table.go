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

// protocol is what MA2H itself knows. Whoever reads a message may have to end it at its deadline, or to delete it at the
// end of its retention.
func protocol() []Endpoint {
	message := Access{
		Get: kinds(kindAccount, kindAgent, kindContent, kindState),
		Put: kinds(kindState), Erase: kinds(kindContent),
	}
	submit := message
	submit.List, submit.Unwraps = kinds(kindKey), true
	submit.Put = kinds(kindContent, kindState)
	submit.Indexes = []Index{{IndexSecond, kinds("open#")}}
	resolve := message
	resolve.Get = kinds(kindAccount, kindAgent, kindContent, kindLogin, kindPerson, kindState)
	resolve.Put = kinds(kindDeed, kindState)
	return []Endpoint{
		{Name: Discovery, Method: http.MethodGet, Path: "/.well-known/ma2h", Caller: None},
		{Name: DiscoveryAlias, Method: http.MethodGet, Path: "/.well-known/ma2h-capability", Caller: None},
		{Name: JWKS, Method: http.MethodGet, Path: "/.well-known/jwks.json", Caller: None,
			Access: Access{List: kinds(kindKey), Unwraps: true}},
		{Name: Healthz, Method: http.MethodGet, Path: "/healthz", Caller: None},
		{Name: Submit, Method: http.MethodPost, Path: "/v1/messages", Caller: Agent, Access: submit},
		{Name: Pull, Method: http.MethodGet, Path: "/v1/messages/{id}", Caller: Agent, Access: message},
		{Name: Cancel, Method: http.MethodPost, Path: "/v1/messages/{id}/cancel", Caller: Agent, Access: message},
		{Name: Resolve, Method: http.MethodPost, Path: "/v1/messages/{id}/resolve", Caller: Either, Access: resolve},
		{Name: Ack, Method: http.MethodPost, Path: "/v1/messages/{id}/ack", Caller: Agent, Access: message},
	}
}

// product is what Mash adds, mostly for people.
func product() []Endpoint {
	person := kinds(kindAccount, kindLogin, kindPerson)
	agents := Access{
		Get: kinds(kindAccount, kindAgent, kindLogin, kindPerson), List: kinds(kindKey),
		Put: kinds(kindAgent, kindDeed), Unwraps: true,
	}
	return []Endpoint{
		{Name: Me, Method: http.MethodGet, Path: "/v1/me", Caller: Either,
			Access: Access{Get: kinds(kindAccount, kindAgent, kindLogin, kindPerson)}},
		{Name: Waiting, Method: http.MethodGet, Path: "/v1/waiting", Caller: Person, Access: Access{
			Get: kinds(kindAccount, kindLogin, kindPerson, kindState), Indexes: []Index{{IndexFirst, kinds("open#")}}}},
		{Name: Read, Method: http.MethodGet, Path: "/v1/waiting/{id}", Caller: Person, Access: Access{
			Get: kinds(kindAccount, kindContent, kindLogin, kindPerson, kindState),
			Put: kinds(kindState), Erase: kinds(kindContent)}},
		{Name: AgentList, Method: http.MethodGet, Path: "/v1/agents", Caller: Person, Access: Access{
			Get: kinds(kindAccount, kindAgent, kindLogin, kindPerson), Indexes: []Index{{IndexFirst, kinds("agent#")}}}},
		{Name: AgentAdd, Method: http.MethodPost, Path: "/v1/agents", Caller: Person, Access: agents},
		{Name: AgentRotate, Method: http.MethodPost, Path: "/v1/agents/{agent}/rotate", Caller: Person, Access: agents},
		{Name: AgentRevoke, Method: http.MethodDelete, Path: "/v1/agents/{agent}", Caller: Person, Access: agents},
		{Name: SettingsPut, Method: http.MethodPut, Path: "/v1/settings", Caller: Person,
			Access: Access{Get: person, Put: kinds(kindAccount, kindDeed)}},
		{Name: Link, Method: http.MethodPost, Path: "/v1/links", Caller: Person,
			Access: Access{Get: person, Put: kinds(kindLogin)}},
	}
}

func kinds(names ...string) []string { return names }
