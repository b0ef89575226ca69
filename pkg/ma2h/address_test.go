package ma2h_test

import (
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// The first # ends the agent id, and what follows begins with sess_ (spec §4).
func TestParseAddress(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]ma2h.Address{
		"agent:a":               {AgentID: "a"},
		"agent:team/bot é":      {AgentID: "team/bot é"},
		"agent:agent:a":         {AgentID: "agent:a"},
		"agent:human:a":         {AgentID: "human:a"},
		"agent:a#sess_1":        {AgentID: "a", Session: "sess_1"},
		"agent:a/b#sess_1#2":    {AgentID: "a/b", Session: "sess_1#2"},
		"agent:a\n#sess_\u2028": {AgentID: "a\n", Session: "sess_\u2028"},
	} {
		got, ok := ma2h.ParseAddress(s)
		if !ok || got != want {
			t.Errorf("ParseAddress(%q) = %+v, %t, want %+v", s, got, ok, want)
		}
		if got.String() != s {
			t.Errorf("ParseAddress(%q).String() = %q", s, got.String())
		}
	}
}

func TestParseAddressRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "a", "agent", "agent:", "Agent:a", " agent:a", "human:a", "system:a", "agent:#sess_1", "agent:a#", "agent:a#b", "agent:a#sess", "agent:a#b#sess_1",
		"agent:a#SESS_1",
	} {
		if got, ok := ma2h.ParseAddress(s); ok {
			t.Errorf("ParseAddress(%q) = %+v, want none", s, got)
		}
	}
}

// An id with a # has no address, so it takes no part in mail between agents (behaviour 7; spec §4, §16.1).
func TestAddressable(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{"a": true, "a/b:c": true, "": false, "a#b": false, "#": false, "a#sess_1": false} {
		if got := ma2h.Addressable(id); got != want {
			t.Errorf("Addressable(%q) = %t, want %t", id, got, want)
		}
	}
}
