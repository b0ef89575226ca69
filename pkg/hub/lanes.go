package hub

// MessageLane is the lane that rings when a message changes.
func MessageLane(tail string) string { return "m#" + tail }

// AccountLane is the lane that rings when something changes that the pages of an account show: a message came, ended, was
// delivered or acknowledged.
func AccountLane(ref string) string { return "a#" + ref }

// PersonLane is the lane that rings when a person's sessions may have ended. Whoever ends one, or removes the person, rings
// it after the Commit, so that open pages notice.
func PersonLane(ref string) string { return "p#" + ref }
