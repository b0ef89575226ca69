// Command servecost compares two builds of mash: how long `mash serve` takes until it answers, and how much memory it holds
// while it has nothing to do. It runs the two in turns, so that what the machine does besides falls on both.
//
//	servecost -rounds 30 BEFORE NOW
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	rounds := flag.Int("rounds", 30, "how often each is started")
	idle := flag.Duration("idle", 2*time.Second, "how long it stands idle before its memory is read")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: servecost [-rounds N] BEFORE NOW")
	}
	if err := compare(flag.Args(), *rounds, *idle); err != nil {
		log.Fatal(err)
	}
}

// costs is what the runs of one build cost.
type costs struct{ start, memory []float64 } // milliseconds, MB

func compare(builds []string, rounds int, idle time.Duration) error {
	var of [2]costs
	for round := range rounds {
		for turn := range builds {
			n := (turn + round) % 2 // each goes first every other time
			start, memory, err := serve(builds[n], idle)
			if err != nil {
				return fmt.Errorf("%s: %w", builds[n], err)
			}
			of[n].start, of[n].memory = append(of[n].start, start), append(of[n].memory, memory)
		}
	}
	fmt.Printf("%-24s %10s %10s %22s\n", "", "before", "now", "ratio in pairs, median")
	row("start, ms", of[0].start, of[1].start)
	row("idle memory, MB", of[0].memory, of[1].memory)
	return nil
}

func row(what string, before, now []float64) {
	ratios := make([]float64, len(now))
	for i := range now {
		ratios[i] = now[i] / before[i]
	}
	fmt.Printf("%-24s %10.2f %10.2f %22.3f\n", what, median(before), median(now), median(ratios))
}

func median[T cmp.Ordered](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// serve runs a hub in a folder that has one already, and returns the milliseconds until it answers and the megabytes that
// it holds when it has been idle.
func serve(mash string, idle time.Duration) (start, memory float64, err error) {
	folder, err := os.MkdirTemp("", "servecost")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(folder)                         //nolint:errcheck // a temporary folder
	if _, _, err := run(mash, folder, 0); err != nil { // the first start makes keys and an account
		return 0, 0, err
	}
	return run(mash, folder, idle)
}

func run(mash, folder string, idle time.Duration) (start, memory float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	urlFile := filepath.Join(folder, "url")
	command := exec.CommandContext(ctx, mash, "serve", "--data", filepath.Join(folder, "data"), //nolint:gosec // as asked
		"--listen", "127.0.0.1:0", "--url-file", urlFile, "--log-level", "error")
	began := time.Now()
	if err := command.Start(); err != nil {
		return 0, 0, err
	}
	err = answers(ctx, urlFile)
	start = float64(time.Since(began)) / float64(time.Millisecond)
	if err == nil {
		time.Sleep(idle)
		memory, err = resident(command.Process.Pid)
	}
	return start, memory, errors.Join(err, command.Process.Signal(syscall.SIGTERM), command.Wait())
}

// answers returns when the hub whose URL comes to stand in the file answers.
func answers(ctx context.Context, urlFile string) error {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Microsecond) {
		text, err := os.ReadFile(urlFile) //nolint:gosec // made here
		if err != nil || len(text) == 0 {
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(string(text))+"/healthz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return errors.Join(err, resp.Body.Close())
	}
	return ctx.Err()
}

// resident returns the resident memory of a process in MB, as Linux counts it.
func resident(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n / 1024, err
		}
	}
	return 0, errors.New("no resident memory is told")
}
