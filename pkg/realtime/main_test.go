package realtime_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// TestMain lets more tests run at once than there are processors, since they mostly wait, and removes what they have built.
func TestMain(m *testing.M) {
	flag.Parse()
	const parallel = "test.parallel"
	if flag.Lookup(parallel).Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // nobody has said another number
		if err := flag.Set(parallel, "8"); err != nil {
			panic(err) // it is a number
		}
	}
	code := m.Run()
	endChromium()
	_ = os.RemoveAll(programs())
	os.Exit(code)
}

// programs is the folder of this process for what its tests build.
func programs() string {
	return filepath.Join(os.TempDir(), "mash-realtime-"+strconv.Itoa(os.Getpid()))
}
