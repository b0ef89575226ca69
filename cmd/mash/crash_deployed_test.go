//go:build crash

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// deployed is a stack on the emulated AWS. Its records live on by themselves; what dies is every process of a function at once.
// The next call begins a new one, so that it lives again at once.
type deployed struct {
	t          *testing.T
	URL, Token string
}

// TestCrash_DeployedMailboxesLoseAndDoubleNothing is TestCrash_MailboxesLoseAndDoubleNothing on the stack whose file
// MASH_TEST_STACK names; AWS_HOME is that of its emulator.
func TestCrash_DeployedMailboxesLoseAndDoubleNothing(t *testing.T) {
	file := os.Getenv("MASH_TEST_STACK")
	if file == "" {
		t.Log("left out: MASH_TEST_STACK names no stack")
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &deployed{t: t}
	if err := json.Unmarshal(text, d); err != nil {
		t.Fatal(err)
	}
	loseAndDoubleNothing(t, harnessOf(t, d, newReceiver(t), "crash-"+ma2h.NewTail()[:8]), 3*time.Second, 50)
}

func (d *deployed) owner(*testing.T) string { return d.Token }

func (d *deployed) start(*testing.T) string { return d.URL }

func (d *deployed) kill() {
	out, err := exec.Command("../../localstack/crash").CombinedOutput()
	d.t.Logf("%s", out)
	if err != nil {
		d.t.Errorf("localstack/crash: %v", err)
	}
}

func (d *deployed) stop(*testing.T) {}
