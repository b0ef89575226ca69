package hub_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
)

func TestSettingsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*hub.Settings){
		"":                       func(*hub.Settings) {},
		`{"grace":"2m0s"}`:       func(s *hub.Settings) { s.Grace = 2 * time.Minute },
		`{"max_wait":"1.5s"}`:    func(s *hub.Settings) { s.MaxWait = 1500 * time.Millisecond },
		`{"inbox_depth":0}`:      func(s *hub.Settings) { s.InboxDepth = 0 },
		`{"retention_days":400}`: func(s *hub.Settings) { s.RetentionDays = 400 },
		`{"limits":{"envelope_bytes":262144,"part_bytes":131072,"parts":3,"answer_bytes":65536,"note_bytes":4096},` +
			`"requests_per_minute":5,` +
			`"retry":{"max_attempts":2,"first":"200ms","longest":"1s","max_duration":"24h0m0s"},"version":"0.5"}`: func(s *hub.Settings) {
			s.Version, s.Limits.Parts, s.RequestsPerMinute = "0.5", 3, 5
			s.Retry.MaxAttempts, s.Retry.First, s.Retry.Longest = 2, 200*time.Millisecond, time.Second
		},
		`{"agent_list_visibility":true,"default_ttl":"2s","freshness":"5s","hard_stop":false,"list_account":true,"max_batch":7,` +
			`"max_live_per_agent":3,"max_ttl":"3s","min_ttl":"1s","pair_per_minute":9,"stream_max_hold":"4s","terminal_retention":"0s",` +
			`"visibility_timeout":"6s"}`: func(s *hub.Settings) {
			s.MaxBatch, s.MaxLivePerAgent, s.PairPerMinute = 7, 3, 9
			s.MinTTL, s.DefaultTTL, s.MaxTTL, s.StreamMaxHold = time.Second, 2*time.Second, 3*time.Second, 4*time.Second
			s.Freshness, s.VisibilityTimeout, s.TerminalRetention = 5*time.Second, 6*time.Second, 0
			s.AgentListVisibility, s.ListAccount, s.HardStop = true, true, false
		},
	} {
		s := hub.DefaultSettings()
		change(&s)
		if diff := cmp.Diff(want, s.Text()); diff != "" {
			t.Errorf("Text (-want +got)\n%s", diff)
		}
		got, err := hub.ParseSettings(s.Text())
		if err != nil {
			t.Errorf("ParseSettings(%s): %v", s.Text(), err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("ParseSettings(%s) (-want +got)\n%s", s.Text(), diff)
		}
	}
}

// TestEverySettingIsWritten: one that is not would be as by default on AWS, whatever its deployer says.
func TestEverySettingIsWritten(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]bool{"BaseURL": true, "StreamURL": true, "PasswordCost": true, "SigningKey": true, "OneNamespace": true}
	for f := range reflect.TypeFor[hub.Settings]().Fields() {
		s := hub.DefaultSettings()
		v := reflect.ValueOf(&s).Elem().FieldByName(f.Name)
		for v.Kind() == reflect.Struct {
			v = v.Field(0)
		}
		switch {
		case elsewhere[f.Name]:
			continue
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		case v.Kind() == reflect.String:
			v.SetString("0.4")
		}
		if s.Text() == "" {
			t.Errorf("the setting %s is not written", f.Name)
		}
	}
}

func TestTheBaseURLStandsElsewhere(t *testing.T) {
	t.Parallel()
	s := hub.DefaultSettings()
	s.BaseURL, s.SigningKey, s.OneNamespace = "https://hub.example", []byte("key"), true
	if got := s.Text(); got != "" {
		t.Errorf("Text = %s, want nothing", got)
	}
}

func TestWhatIsLeftOutIsAsByDefault(t *testing.T) {
	t.Parallel()
	want := hub.DefaultSettings()
	want.Retry.First = time.Minute
	got, err := hub.ParseSettings(`{"retry":{"first":"1m"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	for text, names := range map[string]string{
		`{`:                                  "",
		`[]`:                                 "",
		`{"graze":"2m"}`:                     "graze",
		`{"base_url":"https://hub.example"}`: "base_url",
		`{"grace":120}`:                      "grace",
		`{"grace":"two"}`:                    "grace",
		`{"grace":"-1s"}`:                    "grace",
		`{"max_wait":"-1s"}`:                 "max_wait",
		`{"inbox_depth":-1}`:                 "inbox_depth",
		`{"requests_per_minute":-1}`:         "requests_per_minute",
		`{"retention_days":0}`:               "retention_days",
		`{"retention_days":36501}`:           "retention_days",
		`{"version":"6"}`:                    "version",
		`{"limits":{"parts":0}}`:             "limits.parts",
		`{"retry":{"max_attempts":0}}`:       "retry.max_attempts",
		`{"retry":{"first":"0s"}}`:           "retry.first",
		`{"retry":{"longest":"1s"}}`:         "retry.longest",
		`{"retry":{"max_duration":"1s"}}`:    "retry.max_duration",
		`{"pair_per_minute":-1}`:             "pair_per_minute",
		`{"max_batch":0}`:                    "max_batch",
		`{"visibility_timeout":"0s"}`:        "visibility_timeout",
		`{"freshness":"500ms"}`:              "freshness",
		`{"freshness":"30s"}`:                "freshness", // shorter than a stream is held
		`{"min_ttl":"0s"}`:                   "min_ttl",
		`{"default_ttl":"30s"}`:              "default_ttl",
		`{"max_ttl":"10m"}`:                  "max_ttl",
		`{"max_live_per_agent":0}`:           "max_live_per_agent",
		`{"terminal_retention":"-1s"}`:       "terminal_retention",
		`{"stream_max_hold":"0s"}`:           "stream_max_hold",
		`{"list_account":true}`:              "list_account",
	} {
		_, err := hub.ParseSettings(text)
		if err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("ParseSettings(%s) = %v, want an error that names %s", text, err, names)
		}
	}
}
