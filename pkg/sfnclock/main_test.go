package sfnclock_test

import (
	"os"
	"testing"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Main(m)) }
