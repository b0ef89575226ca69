package sfnclock_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

var definitions = map[string]func(hub.RetryPolicy) string{
	"expiry": sfnclock.ExpiryDefinition, "callback": sfnclock.CallbackDefinition,
}

// machine is what the tests look at of a definition.
type machine struct {
	StartAt        string
	TimeoutSeconds int
	States         map[string]struct {
		Type, Next, Default, Resource, TimestampPath, ResultPath string
		Choices                                                  []struct{ Next string }
		Retry                                                    []retrier
	}
}

type retrier struct {
	ErrorEquals                                   []string
	MaxAttempts, IntervalSeconds, MaxDelaySeconds int
	BackoffRate                                   float64
	JitterStrategy                                string
}

func parse(t *testing.T, text string) machine {
	t.Helper()
	var m machine
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return m
}

func TestEveryStateIsReachableAndLeadsToAnEnd(t *testing.T) {
	t.Parallel()
	for name, define := range definitions {
		m := parse(t, define(hub.DefaultRetry()))
		reached, ends := map[string]bool{}, 0
		for todo := []string{m.StartAt}; len(todo) > 0; todo = todo[1:] {
			at := todo[0]
			if reached[at] {
				continue
			}
			s, ok := m.States[at]
			if !ok {
				t.Fatalf("%s: no state %q", name, at)
			}
			reached[at] = true
			next := slices.DeleteFunc([]string{s.Next, s.Default}, func(s string) bool { return s == "" })
			for _, c := range s.Choices {
				next = append(next, c.Next)
			}
			if terminal := s.Type == "Succeed" || s.Type == "Fail"; terminal != (len(next) == 0) {
				t.Errorf("%s: %s, a %s, leads to %v", name, at, s.Type, next)
			} else if terminal {
				ends++
			}
			todo = append(todo, next...)
		}
		if got, want := slices.Sorted(maps.Keys(reached)), slices.Sorted(maps.Keys(m.States)); !slices.Equal(got, want) {
			t.Errorf("%s: reached %v of %v", name, got, want)
		}
		if ends != 2 {
			t.Errorf("%s has %d ends, want a good and a bad one", name, ends)
		}
	}
}

// TestWhatAnExecutionCosts counts the states that are entered when all goes well, since each costs.
func TestWhatAnExecutionCosts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"expiry":   {"Wait", "Task", "Choice", "Succeed"},
		"callback": {"Task", "Choice", "Succeed"}, // its first attempt is due at once
	} {
		m, entered := parse(t, definitions[name](hub.DefaultRetry())), []string{}
		for at := m.StartAt; at != ""; {
			s := m.States[at]
			entered = append(entered, s.Type)
			at = s.Next
			if len(s.Choices) > 0 {
				at = s.Choices[0].Next
			}
		}
		if diff := cmp.Diff(want, entered); diff != "" {
			t.Errorf("%s enters (-want +got)\n%s", name, diff)
		}
	}
}

func TestThePolicyDecides(t *testing.T) {
	t.Parallel()
	for _, p := range []hub.RetryPolicy{
		hub.DefaultRetry(),
		{MaxAttempts: 3, First: 5 * time.Second, Longest: time.Minute, MaxDuration: time.Hour},
		{MaxAttempts: 1, First: 200 * time.Millisecond, Longest: 600 * time.Millisecond, MaxDuration: time.Minute},
	} {
		first := max(int(p.First/time.Second), 1)
		want := []retrier{
			{ErrorEquals: []string{"InvalidInput"}},
			{
				ErrorEquals: []string{"States.ALL"}, MaxAttempts: p.MaxAttempts - 1, IntervalSeconds: first,
				MaxDelaySeconds: max(int(p.Longest/time.Second), first+1), BackoffRate: 2, JitterStrategy: "FULL",
			},
		}
		hour := int(time.Hour / time.Second)
		lasts := map[string]int{
			"expiry": 25*hour + int(p.MaxDuration/time.Second), "callback": 2*int(p.MaxDuration/time.Second) + hour,
		}
		for name, define := range definitions {
			m := parse(t, define(p))
			if diff := cmp.Diff(want, m.States["Call"].Retry); diff != "" {
				t.Errorf("%s under %+v retries (-want +got)\n%s", name, p, diff)
			}
			if m.TimeoutSeconds != lasts[name] {
				t.Errorf("%s under %+v lasts %d s, want %d", name, p, m.TimeoutSeconds, lasts[name])
			}
			if got := m.States["Call"].Resource; got != "${Function}" {
				t.Errorf("%s calls %s, want the function", name, got)
			}
		}
	}
}

func TestATimestampIsAWholeSecondThatHasCome(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"2026-03-14T12:00:00Z": "2026-03-14T12:00:00Z", "2026-03-14T12:00:00.001Z": "2026-03-14T12:00:01Z",
		"2026-03-14T13:59:59.999+01:00": "2026-03-14T13:00:00Z",
	} {
		parsed, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := sfnclock.Timestamp(parsed); got != want {
			t.Errorf("Timestamp(%s) = %s, want %s", at, got, want)
		}
	}
}

// TestAgainLiesASecondAhead: the clock of Step Functions may be ahead of the function's.
func TestAgainLiesASecondAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 12, 0, 0, int(300*time.Millisecond), time.UTC)
	for _, c := range []struct {
		in   time.Duration
		want string
	}{
		{0, "2026-03-14T12:00:02Z"}, {-time.Hour, "2026-03-14T12:00:02Z"}, {time.Millisecond, "2026-03-14T12:00:02Z"},
		{700 * time.Millisecond, "2026-03-14T12:00:02Z"}, {time.Second, "2026-03-14T12:00:02Z"},
		{1700 * time.Millisecond, "2026-03-14T12:00:02Z"}, {1701 * time.Millisecond, "2026-03-14T12:00:03Z"},
		{time.Minute, "2026-03-14T12:01:01Z"},
	} {
		if got := sfnclock.Again(now.Add(c.in), now); got.Again != c.want {
			t.Errorf("Again(in %v) = %s, want %s", c.in, got.Again, c.want)
		}
	}
	if got := sfnclock.Again(now.Truncate(time.Second), now.Truncate(time.Second)); got.Again != "2026-03-14T12:00:01Z" {
		t.Errorf("Again(now) at a whole second = %s, want the next", got.Again)
	}
	if got := sfnclock.Again(time.Time{}, now); got.Again != "" {
		t.Errorf("Again(zero) = %+v, want nothing", got)
	}
}

func TestAnInputThatIsNone(t *testing.T) {
	t.Parallel()
	good := sfnclock.Input{Key: sfnclock.Key{Part: "m#1", Sort: "state"}, At: "2026-03-14T12:00:00Z"}
	if key, err := good.Check(); err != nil || key.String() != "m#1/state" {
		t.Errorf("Check(%+v) = %v, %v", good, key, err)
	}
	for _, bad := range []sfnclock.Input{
		{}, {Key: good.Key}, {Key: good.Key, At: "tomorrow"}, {Key: sfnclock.Key{Part: "m#1"}, At: good.At},
		{Key: sfnclock.Key{Part: "m#1\x00", Sort: "state"}, At: good.At},
	} {
		if _, err := bad.Check(); err == nil {
			t.Errorf("Check(%+v) takes it", bad)
		}
	}
}
