package hub_test

import (
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestNoNewNameLooksLikeAnother: people decide by names whom they answer and trust.
func TestNoNewNameLooksLikeAnother(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, name := range []string{
		"bot\u200bx", "bo\u00adt", "bot\u2060", "b\u3164t", "b\u2800t", "b\ufe0ft", "\u202ebot", // unseen
		"b\u043et", "\u0430gent", "age\u03bft", // о of Cyrillic among Latin letters, а, ο of Greek
		"bo\u0301t", "\uff42ot", "ﬁx", // another way to write ó, b, fi
	} {
		if err := hub.CheckPersonName(name); err == nil {
			t.Errorf("a person may be called %q", name)
		}
		if _, err := d.AddAgent(t.Context(), d.owner, name); ma2h.AsError(err) == nil || ma2h.AsError(err).Field != "/id" {
			t.Errorf("an agent may be called %q: %v", name, err)
		}
	}
	for _, name := range []string{" bot", "bot ", "bot\u00a0x", "a\u2003b"} {
		if _, err := d.AddAgent(t.Context(), d.owner, name); ma2h.AsError(err) == nil {
			t.Errorf("an agent may be called %q", name)
		}
	}
	for _, name := range []string{"anna", "анна", "άννα", "zoë", "b\u00f3t", "東京-bot", "ci/nightly", "ship.it_2", "مدير", "नीता"} {
		if err := hub.CheckPersonName(name); err != nil {
			t.Errorf("nobody may be called %q: %v", name, err)
		}
		if _, err := d.AddAgent(t.Context(), d.owner, name); err != nil {
			t.Errorf("no agent may be called %q: %v", name, err)
		}
	}
	if _, err := d.AddAgent(t.Context(), d.owner, "nightly build"); err != nil {
		t.Errorf("no agent may have a blank within: %v", err)
	}
}
