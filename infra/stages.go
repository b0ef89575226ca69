package main

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/realtime"
)

// Production is the stage that people use. Whoever deploys Mash sets it here.
func Production() Stage {
	return Stage{
		Stack:             "Mash",
		Architecture:      archARM,
		Functions:         "../bin/functions/" + archARM,
		MemoryMB:          512,
		Hub:               hub.DefaultSettings(),
		WaitingPulls:      200,
		WaitingDrains:     200,
		HeldStreams:       100,
		RequestsPerSecond: 500,
		Burst:             1000,
		LogDays:           30,
	}
}

// Test is the stage of the tests in real time, on an emulated AWS: Production with small windows and timeouts, on the
// architecture of this machine, where the functions run, and below a path: mash serve, on which the same tests run, is at the
// root of its address.
//
// Its Grace is shorter than an attempt may last, which no other stage may have. The tests must see the sweep take over
// within seconds, and it is enough there: their receivers answer at once, so that an attempt is written before its grace is
// over, and the sweep, which reads the record anew, finds that nothing is owed. Where one is not yet written, the callback is
// made twice, as any may be.
func Test(e Emulator) Stage {
	s := Production()
	s.Stack = "MashTest"
	s.Architecture = runtime.GOARCH
	s.Functions = "../bin/functions/" + runtime.GOARCH
	s.Hub = realtime.Settings()
	s.Hub.Grace = 2 * time.Second
	s.LogDays = 1
	s.Base = "/mash"
	s.Emulator = &e
	return s
}

// stageNamed returns a stage by its name; what only the deployer of the test stage knows is in the environment.
func stageNamed(name string, env func(string) string) (Stage, error) {
	switch name {
	case "", "production":
		return Production(), nil
	case "test":
		return Test(Emulator{
			Port: cmp.Or(env("MASH_EMULATOR_PORT"), "4566"), Callback: env("MASH_TEST_CALLBACK"),
		}), nil
	}
	return Stage{}, fmt.Errorf("there is no stage %q; the context value stage is production or test", name)
}
