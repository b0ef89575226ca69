package endpoint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

func TestEachEndpointAndWorkerHasAFunctionOfItsOwn(t *testing.T) {
	t.Parallel()
	got := map[endpoint.Name]endpoint.Access{}
	for _, f := range endpoint.Functions() {
		if _, ok := got[f.Name]; ok {
			t.Errorf("the name %q stands twice among the functions", f.Name)
		}
		got[f.Name] = f.Access
	}
	want := map[endpoint.Name]endpoint.Access{}
	for _, e := range endpoint.All() {
		want[e.Name] = e.Access
	}
	for _, w := range endpoint.Workers() {
		want[w.Name] = w.Access
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-endpoints and workers +functions)\n%s", diff)
	}
	for _, w := range endpoint.Workers() {
		if got := endpoint.WorkerOf(w.Name).Name; got != w.Name {
			t.Errorf("WorkerOf(%q) is %q", w.Name, got)
		}
	}
}

func TestWhatFunctionsTouchHasAPlace(t *testing.T) {
	t.Parallel()
	for _, f := range endpoint.Functions() {
		name, a := f.Name, f.Access
		for _, kind := range slices.Concat(a.Get, a.List, a.Put, a.Erase, a.Check) {
			if endpoint.PartOf(kind) == "" { // it panics for a kind that is none
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
