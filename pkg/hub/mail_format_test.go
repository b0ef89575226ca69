package hub_test

import (
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// An older hub, beside a newer one, says that it cannot read what is acknowledged. It does not answer as if there were no such
// thing: the agent would take that as done.
func TestAnAckOfWhatOnlyANewerHubReadsIsAnError(t *testing.T) {
	inHouses(t, func(h *house) {
		beta := h.agent("beta")
		sent, err := h.Direct(t.Context(), h.ada, &ma2h.Directive{To: "agent:beta", Title: "Stop"})
		h.must(err)
		_, err = h.Drain(t.Context(), beta, hub.DrainOptions{})
		h.must(err)
		key, ok := hub.LetterKey(sent.ID)
		if !ok {
			t.Fatalf("%s has no record", sent.ID)
		}
		recs, err := h.Store.Get(t.Context(), key)
		h.must(err)
		newer := recs[0]
		newer.Body = []byte(`{"format":999}`)
		h.must(h.Store.Commit(t.Context(), record.Put(newer, recs[0].Rev)))
		if done, err := h.AckMail(t.Context(), beta, "", &ma2h.InboxAckRequest{IDs: []string{sent.ID}}); err == nil {
			t.Errorf("AckMail = %+v, want an error", done)
		}
		done, err := h.AckMail(t.Context(), beta, "", &ma2h.InboxAckRequest{IDs: []string{"dir_00000000000000000000000000"}})
		h.must(err)
		if done.Acked != 0 {
			t.Errorf("AckMail of nothing = %+v", done)
		}
	})
}
