package recordtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/record"
)

// crowd is how many racers meet at each of as many keys.
const crowd = 50

// crowdRounds is how often they do: RACE_ROUNDS, or twice: over nothing, and over something.
func crowdRounds(t *testing.T) int {
	text := os.Getenv("RACE_ROUNDS")
	if text == "" {
		return 2
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RACE_ROUNDS = %q, want a number above 0", text)
	}
	return n
}

// entry is what became of one racer at one key: the revision it wrote there, or the one that it lost to.
type entry struct{ wrote, lostTo string }

// crowdedKeys has fifty racers write each of fifty keys at once, all of them over the revision of the round before. Each
// key has one winner a round, whom every loser is told, and who stands.
func crowdedKeys(t *testing.T, s record.Store) {
	was := make([]string, crowd)
	for round := range crowdRounds(t) {
		entries := crowdedRound(t, s, was)
		for k := range was {
			if was[k] = soleWinner(t, entries[k]); t.Failed() {
				t.Fatalf("round %d, key %d", round, k)
			}
		}
		stand(t, s, was)
	}
}

// crowdedRound lets all racers loose and returns what became of each, by key. They go through the keys in one order, so
// that they meet at each.
func crowdedRound(t *testing.T, s record.Store, was []string) [][]entry {
	entries := make([][]entry, crowd)
	for k := range entries {
		entries[k] = make([]entry, crowd)
	}
	var running sync.WaitGroup
	for racer := range crowd {
		running.Go(func() {
			for k := range crowd {
				w := record.Put(rec("p", strconv.Itoa(k), fmt.Sprint(racer)), was[k])
				err := s.Commit(t.Context(), w)
				if err == nil {
					entries[k][racer].wrote = w.Record.Rev
					continue
				}
				c := record.AsConflict(err)
				if c == nil {
					t.Errorf("Commit = %v", err)
					return
				}
				winner, _ := c.Winner(w.Record.Key)
				entries[k][racer].lostTo = winner.Rev
			}
		})
	}
	running.Wait()
	return entries
}

// soleWinner returns the revision of the only one who wrote, to whom all others must have lost.
func soleWinner(t *testing.T, entries []entry) string {
	t.Helper()
	won := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.wrote == "" })
	if len(won) != 1 {
		t.Errorf("%d winners among %d, want 1", len(won), len(entries))
		return ""
	}
	for _, e := range entries {
		if e.wrote == "" && e.lostTo != won[0].wrote {
			t.Errorf("lost to %q, but %q won", e.lostTo, won[0].wrote)
		}
	}
	return won[0].wrote
}

// stand holds what is stored to the winners.
func stand(t *testing.T, s record.Store, winners []string) {
	t.Helper()
	keys := make([]record.Key, len(winners))
	for k := range keys {
		keys[k] = key("p", strconv.Itoa(k))
	}
	got, err := s.Get(t.Context(), keys...)
	if err != nil {
		t.Fatalf("Get = %v", err)
	}
	for k, r := range got {
		if r.Rev != winners[k] {
			t.Fatalf("at key %d %s stands, want revision %s", k, show(r), winners[k])
		}
	}
}
