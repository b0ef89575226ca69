package dynamostore_test

import (
	"os"
	"testing"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Main(m)) }

func TestContract(t *testing.T) {
	t.Parallel()
	recordtest.Run(t, func(t *testing.T) record.Store { return dynamotest.Store(t) })
}
