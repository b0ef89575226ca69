package hub_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// strangers are those of some resolvers who are nobody of ada's account.
func (h *house) strangers(resolvers ...string) []string {
	h.t.Helper()
	got, err := h.Strangers(h.t.Context(), h.ada, resolvers)
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func TestARevokedAgentIsNobody(t *testing.T) {
	inHouses(t, func(h *house) {
		ctx := h.t.Context()
		for _, want := range [][]string{nil, {"agent:helper"}, nil} { // added, revoked, and added again
			var err error
			if want == nil {
				_, err = h.AddAgent(ctx, h.ada, "helper")
			} else {
				err = h.RevokeAgent(ctx, h.ada, "helper")
			}
			if err != nil {
				h.t.Fatal(err)
			}
			if diff := cmp.Diff(want, h.strangers("agent:helper", "human:ada")); diff != "" {
				h.t.Errorf("strangers (-want +got)\n%s", diff)
			}
		}
	})
}

// TestWhoseRecordCannotBeReadCountsAsKnown: a stranger is worth a warning, never the end of a submit or a page.
func TestWhoseRecordCannotBeReadCountsAsKnown(t *testing.T) {
	inHouses(t, func(h *house) {
		ctx := h.t.Context()
		for kind, key := range map[string]record.Key{
			hub.KindPerson: hub.PersonKey(h.PersonRef("bob")), hub.KindAgent: hub.AgentKey(h.AgentRef(h.ada.Account.Ref, "helper")),
		} {
			newer := record.Record{Key: key, Kind: kind, Body: []byte(`{"format":99,"account":"of another kind"}`)}
			if err := h.Store.Commit(ctx, record.Put(newer, "")); err != nil {
				h.t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"human:carol"}, h.strangers("human:bob", "agent:helper", "human:carol")); diff != "" {
			h.t.Errorf("strangers (-want +got)\n%s", diff)
		}
	})
}
