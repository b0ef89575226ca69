package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

func TestContractOnDisk(t *testing.T) {
	t.Parallel()
	recordtest.Run(t, func(t *testing.T) record.Store { return openFile(t, filepath.Join(t.TempDir(), "store")) })
}

func TestContractInMemory(t *testing.T) {
	t.Parallel()
	recordtest.Run(t, openMemory)
}

func openFile(t *testing.T, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func openMemory(t *testing.T) record.Store {
	t.Helper()
	s, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t *testing.T, s *sqlitestore.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
