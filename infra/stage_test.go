package main

import (
	"strings"
	"testing"
	"time"
)

func TestStagesAreGood(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "production", "test"} {
		s, err := stageNamed(name, func(string) string { return "" })
		if err == nil {
			err = s.check()
		}
		if err != nil {
			t.Errorf("stage %q: %v", name, err)
		}
	}
	if _, err := stageNamed("staging", nil); err == nil || !strings.Contains(err.Error(), "production or test") {
		t.Errorf("stageNamed(staging) = %v, want an error that says which there are", err)
	}
}

func TestTheTestStageTakesPortAndCallbackFromTheEnvironment(t *testing.T) {
	t.Parallel()
	s, err := stageNamed("test", func(name string) string {
		return map[string]string{
			"MASH_EMULATOR_PORT": "4601", "MASH_TEST_CALLBACK": "127.0.0.1:9"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Emulator{Port: "4601", Callback: "127.0.0.1:9"}); *s.Emulator != want {
		t.Errorf("Emulator = %+v, want %+v", *s.Emulator, want)
	}
}

func TestWhatCannotBeIsSaid(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Stage){
		"Stack is":                func(s *Stage) { s.Stack = "a b" },
		"Architecture is":         func(s *Stage) { s.Architecture = "x86_64" },
		"Functions is empty":      func(s *Stage) { s.Functions = "" },
		"MemoryMB is 64":          func(s *Stage) { s.MemoryMB = 64 },
		"Hub.BaseURL is":          func(s *Stage) { s.Hub.BaseURL = "https://x" },
		"retention_days":          func(s *Stage) { s.Hub.RetentionDays = 0 },
		"Hub.Grace is 29s":        func(s *Stage) { s.Hub.Grace = workTimeout - time.Second },
		"Domain needs":            func(s *Stage) { s.Domain = &Domain{Name: "https://x.example"} },
		`Base is "mash"`:          func(s *Stage) { s.Base = "mash" },
		`Base is "/mash/"`:        func(s *Stage) { s.Base = "/mash/" },
		`Base is "/m%61sh"`:       func(s *Stage) { s.Base = "/m%61sh" },
		"can have one segment":    func(s *Stage) { s.Base = "/tools/mash" },
		"WaitingPulls is -1":      func(s *Stage) { s.WaitingPulls = -1 },
		"WaitingDrains is -1":     func(s *Stage) { s.WaitingDrains = -1 },
		"HeldStreams is -1":       func(s *Stage) { s.HeldStreams = -1 },
		"Hub.StreamURL":           func(s *Stage) { s.Hub.StreamURL = "https://x" },
		"RequestsPerSecond and":   func(s *Stage) { s.Burst = 0 },
		"LogDays is 31":           func(s *Stage) { s.LogDays = 31 },
		"AlarmTopic is":           func(s *Stage) { s.AlarmTopic = "alarms" },
		"An emulator has no Doma": func(s *Stage) { s.Emulator, s.Domain = &Emulator{}, &Domain{"x.example", "arn:x"} },
	} {
		s := Production()
		change(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check = %v, want %q in it", err, want)
		} else if strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("check = %v, want one sentence", err)
		}
	}
}

func TestOnlyAnEmulatorHasAGraceShorterThanAnAttempt(t *testing.T) {
	t.Parallel()
	for _, s := range []Stage{Test(Emulator{}), Production()} {
		s.Hub.Grace = time.Second
		if err := s.check(); (err == nil) != (s.Emulator != nil) {
			t.Errorf("check of %s with a grace of %s = %v", s.Stack, s.Hub.Grace, err)
		}
	}
	s := Production()
	s.Hub.Grace = workTimeout
	if err := s.check(); err != nil {
		t.Errorf("check with a grace of %s = %v", s.Hub.Grace, err)
	}
}

func TestFunctionsThatAreNotBuiltAreSaid(t *testing.T) {
	t.Parallel()
	s := Production()
	s.Functions = t.TempDir()
	if err := s.checkFunctions(); err == nil || !strings.Contains(err.Error(), "GOARCH=arm64 make functions") {
		t.Errorf("checkFunctions = %v, want what to do", err)
	}
}
