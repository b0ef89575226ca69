package main

import (
	"archive/zip"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// TestEachFunctionRunsItsOwnCode opens the very zip that a function would run.
func TestEachFunctionRunsItsOwnCode(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		if got, want := len(s.Template.of("AWS::Lambda::Function")), len(functionNames()); got != want {
			t.Errorf("%d functions, want %d", got, want)
		}
		for _, name := range functionNames() {
			_, f := s.function(t, name)
			key, _ := at(f.Properties, "Code", "S3Key").(string)
			if got := inside(t, filepath.Join(s.Folder, "asset."+key)); got != string(name) {
				t.Errorf("the function %s runs the code of %s", name, got)
			}
			if f.Properties["Runtime"] != "provided.al2023" || f.Properties["Handler"] != "bootstrap" {
				t.Errorf("%s runs on %v, %v", name, f.Properties["Runtime"], f.Properties["Handler"])
			}
		}
	})
}

func inside(t *testing.T, file string) string {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open("bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheArchitectureIsTheStages(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		want := map[string]string{archARM: "arm64", archAMD: "x86_64"}[s.Stage.Architecture]
		for id, f := range s.Template.of("AWS::Lambda::Function") {
			if at(f.Properties, "Architectures", 0) != want {
				t.Errorf("%s runs on %v, want %s", id, f.Properties["Architectures"], want)
			}
		}
	})
	if got := Production().Architecture; got != archARM {
		t.Errorf("production runs on %s, want arm64", got)
	}
}

func TestWhoWaitsAndTheSweepHaveTheirConcurrency(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for _, name := range functionNames() {
			_, f := s.function(t, name)
			want := map[endpoint.Name]any{
				endpoint.Sweep: 1.0, endpoint.Pull: float64(s.Stage.WaitingPulls), endpoint.Drain: float64(s.Stage.WaitingDrains),
				endpoint.Stream: float64(s.Stage.HeldStreams),
			}[name]
			if got := f.Properties["ReservedConcurrentExecutions"]; got != want {
				t.Errorf("%s has a concurrency of %v of its own, want %v", name, got, want)
			}
		}
	})
	t.Run("none reserved", func(t *testing.T) {
		for _, name := range []endpoint.Name{endpoint.Pull, endpoint.Drain, endpoint.Stream} {
			_, f := made(t, everything).function(t, name)
			if got := f.Properties["ReservedConcurrentExecutions"]; got != nil {
				t.Errorf("without any that wait, %s has a concurrency of %v", name, got)
			}
		}
	})
}

// TestFunctionsAnswerBeforeTheAPIGivesUp compares the two times.
func TestFunctionsAnswerBeforeTheAPIGivesUp(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for _, name := range functionNames() {
			_, f := s.function(t, name)
			timeout, _ := f.Properties["Timeout"].(float64)
			if name == endpoint.Stream { // which no API waits for
				if hold := s.Stage.Hub.StreamMaxHold.Seconds(); timeout < hold+10 || timeout > hold+30 {
					t.Errorf("%s may run for %v s, and holds for %v s", name, timeout, hold)
				}
				continue
			}
			_, worker := map[endpoint.Name]bool{endpoint.Sweep: true, endpoint.Outbox: true, endpoint.Fire: true, endpoint.Deliver: true}[name]
			if !worker && (timeout >= 30 || timeout <= 25) || worker && (timeout < 30 || timeout >= 60) {
				t.Errorf("%s may run for %v s", name, timeout)
			}
		}
	})
}

func TestFunctionsAreToldWhatTheyMustKnow(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for _, name := range functionNames() {
			_, f := s.function(t, name)
			got, _ := at(f.Properties, "Environment", "Variables").(doc)
			want := doc{
				"MASH_TABLE": doc{"Ref": "Table"}, "MASH_KMS_KEY": doc{"Fn::GetAtt": []any{"HubKey", "Arn"}},
				"MASH_STACK": s.Stage.Stack, "MASH_BASE_URL": s.Template.Outputs["Url"].Value,
				"MASH_QUEUES": doc{"Fn::Join": []any{"", []any{
					"https://sqs.", doc{"Ref": "AWS::Region"}, ".", doc{"Ref": "AWS::URLSuffix"}, "/", doc{"Ref": "AWS::AccountId"},
					"/" + s.Stage.Stack + "-",
				}}},
			}
			if s.Stage.Emulator != nil {
				want["MASH_SETTINGS"] = s.Stage.Hub.Text()
				want["MASH_ALLOW_CALLBACK"] = s.Stage.Emulator.Callback
			}
			if name == endpoint.Discovery || name == endpoint.DiscoveryAlias {
				want["MASH_STREAM_URL"] = s.Template.Outputs["StreamUrl"].Value
			}
			if name == endpoint.Outbox {
				want["MASH_EXPIRY_MACHINE"] = doc{"Fn::GetAtt": []any{"ExpiryMachine", "Arn"}}
				want["MASH_CALLBACK_MACHINE"] = doc{"Fn::GetAtt": []any{"CallbackMachine", "Arn"}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the environment of %s (-want +got)\n%s", name, diff)
			}
		}
	})
}

func TestOnlyAnEmulatorOpensTheGuardOfCallbacks(t *testing.T) {
	t.Parallel()
	if all := text(made(t, production).Template.whole); strings.Contains(all, "MASH_ALLOW_CALLBACK") {
		t.Error("production sets MASH_ALLOW_CALLBACK")
	}
}

// TestLogsEnd looks at every log group: it has a retention, and each function writes one of its own.
func TestLogsEnd(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		users := map[string]string{}
		for _, name := range functionNames() {
			_, f := s.function(t, name)
			log := refers(at(f.Properties, "LoggingConfig", "LogGroup"))
			if other := users[log]; other != "" || log == "" {
				t.Errorf("%s logs to %q as %s does", name, log, other)
			}
			users[log] = string(name)
		}
		groups := s.Template.of("AWS::Logs::LogGroup")
		if want := len(functionNames()) + 3; len(groups) != want { // the API and the machines
			t.Errorf("%d log groups, want %d", len(groups), want)
		}
		for id, g := range groups {
			if got := g.Properties["RetentionInDays"]; got != float64(s.Stage.LogDays) {
				t.Errorf("%s is kept for %v days, want %d", id, got, s.Stage.LogDays)
			}
		}
	})
}
