//go:build bench

package localhub_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waiters is how many agents listen at once.
const waiters = 1000

// TestBench_AgentsThatWaitCostNothing has a thousand drains wait, and looks at what the server takes for them: its resident
// memory after a collection, and its time of the processor while nothing happens.
func TestBench_AgentsThatWaitCostNothing(t *testing.T) {
	server := startBench(t, "mail-hub")
	server.connections(t, 0)
	before := server.resident(t)
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), "BENCH_ROLE=mail-wait", "BENCH_LANES=64", "BENCH_URL="+server.url, "BENCH_AGENT="+server.agent)
	client.Stderr = os.Stderr
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Process.Kill(); _ = client.Wait() })
	server.connections(t, waiters)
	time.Sleep(3 * time.Second) // until each has looked, and waits
	each := float64(server.resident(t)-before) / waiters / 1024
	const long = 20 * time.Second
	began := server.cpu()
	time.Sleep(long)
	busy := 100 * float64(server.cpu()-began) / float64(long)
	server.connections(t, waiters) // they waited all along
	fmt.Printf("%d waiting drains: %.1f KB each, %.1f %% of a core\n", waiters, each, busy)
	if each >= 40 || busy >= 5 {
		t.Errorf("a waiting drain takes %.1f KB and a thousand %.1f %% of a core, want under 40 KB and 5 %%", each, busy)
	}
}

// connections waits until the server has that many connections at least.
func (s *benchServer) connections(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if len(fds) >= want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections of %d", len(fds), want)
		}
	}
}

// resident is what the server's memory comes to in bytes after a collection.
func (s *benchServer) resident(t *testing.T) int {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kB, err := strconv.Atoi(strings.Fields(string(rest))[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB * 1024
}

// benchMailWait has drains wait until it is ended.
func benchMailWait() {
	c := newMailClient(waiters)
	for i := range waiters {
		go func() {
			req, err := http.NewRequest(http.MethodGet, os.Getenv("BENCH_URL")+"/v1/inbox?wait=60&session="+c.Lanes[i%c.lanes].Session, nil)
			die(err)
			req.Header.Set("Authorization", "Bearer "+c.Lanes[i%c.lanes].Token)
			do(c.http, req, http.StatusOK)
			die(fmt.Errorf("a drain did not wait"))
		}()
	}
	select {}
}
