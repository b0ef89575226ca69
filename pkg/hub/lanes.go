package hub

import (
	"strings"

	"github.com/mash-hub/mash/pkg/record"
)

// OfMailbox says whether a lane is one of a mailbox: rows lie in it, and who rings and who waits for it are mostly two
// processes. What the others are for, pages and pulls, can wait for a look now and then.
func OfMailbox(lane string) bool { return strings.HasPrefix(lane, "q#") }

// RingOf returns the lane that is to ring for a new record, where another than the one who wrote it sees to that: the one in
// which an entry has come. It is empty for none.
func RingOf(r record.Record) string {
	if r.Kind != KindRow {
		return ""
	}
	return r.Part
}

// MessageLane is the lane that rings when a message changes.
func MessageLane(tail string) string { return "m#" + tail }

// AccountLane is the lane that rings when something changes that the pages of an account show: a message came, ended, was
// delivered or acknowledged.
func AccountLane(ref string) string { return "a#" + ref }

// PersonLane is the lane that rings when a person's sessions may have ended. Whoever ends one, or removes the person, rings
// it after the Commit, so that open pages notice.
func PersonLane(ref string) string { return "p#" + ref }
