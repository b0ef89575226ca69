package realtime_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestMain removes what tests have built.
func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(programs())
	os.Exit(code)
}

// programs is the folder of this process for what its tests build.
func programs() string {
	return filepath.Join(os.TempDir(), "mash-realtime-"+strconv.Itoa(os.Getpid()))
}
