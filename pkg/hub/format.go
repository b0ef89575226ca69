package hub

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/mash-hub/mash/pkg/record"
)

// RecordFormat is the newest format of records that this version of the hub reads. A record that needs a newer reader than
// the first says so in the first member of its body, as in {"format":2,...}; one that does not has format 1. A change that
// an older hub would read wrongly takes the next number, so that while two versions run side by side the older one
// refuses such a record instead of harming it.
const RecordFormat = 4

// readable refuses a record that is written for a newer hub.
func readable(r record.Record) error {
	after, says := bytes.CutPrefix(r.Body, []byte(`{"format":`))
	if !says {
		return nil
	}
	digits, _, _ := bytes.Cut(after, []byte(","))
	format, err := strconv.Atoi(string(bytes.TrimSuffix(digits, []byte("}"))))
	if err != nil || format > RecordFormat {
		return fmt.Errorf("%s %s has format %s and this version of Mash reads formats up to %d: run the version that wrote it, "+
			"or a newer one", r.Kind, r.Key, digits, RecordFormat)
	}
	return nil
}
