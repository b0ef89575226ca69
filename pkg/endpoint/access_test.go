package endpoint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// accesses returns the Access of each endpoint and worker by name.
func accesses() map[endpoint.Name]endpoint.Access {
	all := map[endpoint.Name]endpoint.Access{}
	for _, e := range endpoint.All() {
		all[e.Name] = e.Access
	}
	for _, w := range endpoint.Workers() {
		all[w.Name] = w.Access
	}
	return all
}

func TestEndpointsAndWorkersHaveDifferentNames(t *testing.T) {
	t.Parallel()
	if got, want := len(accesses()), len(endpoint.All())+len(endpoint.Workers()); got != want {
		t.Errorf("%d names for %d endpoints and workers", got, want)
	}
	for _, w := range endpoint.Workers() {
		if got := endpoint.WorkerOf(w.Name).Name; got != w.Name {
			t.Errorf("WorkerOf(%q) is %q", w.Name, got)
		}
	}
}

func TestWhatFunctionsTouchHasAPlace(t *testing.T) {
	t.Parallel()
	for name, a := range accesses() {
		for _, kind := range slices.Concat(a.Get, a.List, a.Put, a.Erase, a.Check) {
			if endpoint.PartOf(kind) == "" {
				t.Errorf("%s touches records of kind %q, which lie nowhere", name, kind)
			}
		}
		for _, i := range a.Indexes {
			for _, list := range i.Lists {
				if !strings.HasSuffix(list, "#") {
					t.Errorf("%s reads the list %q of %s; a list begins with its kind and #", name, list, i.Name)
				}
			}
		}
		if a.Unwraps != a.Reads("key") {
			t.Errorf("%s reads the hub's keys or opens them, and not both", name)
		}
	}
}

func TestWhoNeedsNoCallerReadsOfNone(t *testing.T) {
	t.Parallel()
	for _, e := range endpoint.All() {
		for _, kind := range []string{"account", "agent", "login", "person"} {
			if got, want := e.Access.Reads(kind), e.Caller != endpoint.None; got != want {
				t.Errorf("%s is for %s and reads records of kind %s: %t", e.Name, e.Caller, kind, got)
			}
		}
	}
}

func TestKindAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ part, sort, want string }{
		{"a#1", "account", "account"}, {"g#1", "agent", "agent"}, {"m#1", "content", "content"}, {"m#1", "state", "state"},
		{"u#1#2026-01-31", "0001", "deed"}, {"k#hub", "sign#1", "key"}, {"p#1", "login#1", "login"}, {"p#1", "person", "person"},
		{"meta", "owner", "owner"}, {"meta#1", "owner", ""}, {"k#hubs", "wrap", ""}, {"m#1", "states", ""}, {"x#1", "y", ""},
	} {
		if got := endpoint.KindAt(c.part, c.sort); got != c.want {
			t.Errorf("KindAt(%q, %q) = %q, want %q", c.part, c.sort, got, c.want)
		}
	}
}
