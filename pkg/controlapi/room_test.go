package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// A message must not be accepted whose record has no room for an outcome.
func TestWhatIsAcceptedCanEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		long := s.ask()
		long["agent"].(doc)["run_id"] = strings.Repeat("r", 240<<10)
		id := bot.accepted(long)
		alice.resolve(id, doc{"resolution": "declined", "comment": strings.Repeat("c", 60<<10)}).is(http.StatusOK)
		bot.get(id).is(http.StatusOK).shows("/status", "declined").shows("/response/agent/run_id", strings.Repeat("r", 240<<10))
	})
}
