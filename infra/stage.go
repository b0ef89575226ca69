package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
)

// Stage is what makes one deployment differ from another. stages.go has those that there are.
type Stage struct {
	// Stack is the name of the stack. Functions and log groups are named after it, so that an account can have several.
	Stack string

	// Architecture is that of the functions, as Go names it: arm64, which costs a fifth less, or amd64.
	Architecture string

	// Functions is the folder that `make functions` writes for that architecture, with a NAME.zip for each function.
	Functions string

	// MemoryMB is the memory of each function; processor time grows with it.
	MemoryMB int

	// Hub is what the hub itself is told. Its BaseURL is made from Domain or the API, and Base, and must be empty here.
	Hub hub.Settings

	// Domain is the name under which people and agents reach the hub. Without one it is the API's own, which goes with it.
	Domain *Domain

	// Base is the path below which all of the hub lies, such as /mash, so that other things can stand beside it: with a slash
	// before it and none behind, or empty. Without a Domain it is the name of the API's stage, and one segment.
	Base string

	// WaitingPulls is how many pulls run at once, most of them waiting, so that those who wait leave room for those who
	// send. It is reserved: an account needs that many beyond the hundred that must stay free. 0 reserves none.
	WaitingPulls int

	// WaitingDrains is the same for drains of mailboxes. An agent that listens all the time takes one.
	WaitingDrains int

	// HeldStreams is the same for streams, which are not reached through the API and its throttle: with 0 nothing but the
	// account's own concurrency bounds how many there are.
	HeldStreams int

	// RequestsPerSecond and Burst are where the API begins to refuse requests, all callers taken together.
	RequestsPerSecond, Burst int

	// LogDays is how long logs are kept, in days; CloudWatch takes certain numbers only.
	LogDays int

	// AlarmTopic is the ARN of a topic of SNS that alarms are sent to. Without one they only show.
	AlarmTopic string

	// Emulator is set for a stage on an emulated AWS.
	Emulator *Emulator
}

// Domain is a name of the operator's own. Its record in the DNS is the operator's to make: an alias of the output
// DomainTarget, in whose zone, DomainTargetZone, Route 53 looks for it; or a CNAME.
type Domain struct {
	Name        string // as in mash.example.com
	Certificate string // ARN of a certificate for it, in the stack's region
}

// Emulator is what differs where AWS is emulated.
type Emulator struct {
	Port     string // at which it answers
	Callback string // host:port to which callbacks may be sent although the guard forbids it
}

// logDays are the retentions that CloudWatch knows, up to ten years.
func logDays() []int {
	return []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}
}

// check says what cannot be, all of it at once.
func (s Stage) check() error {
	var wrong []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	must(s.Stack != "" && len(s.Stack) <= 40 && strings.Trim(s.Stack, letters+"0123456789-") == "",
		"Stack is %q; give it 1 to 40 letters, digits or hyphens.", s.Stack)
	must(s.Architecture == archARM || s.Architecture == archAMD,
		"Architecture is %q; a function runs on %s or %s.", s.Architecture, archARM, archAMD)
	must(s.Functions != "", "Functions is empty; name the folder that `make functions` writes.")
	must(s.MemoryMB >= 128 && s.MemoryMB <= 10240, "MemoryMB is %d; Lambda takes 128 to 10240.", s.MemoryMB)
	must(s.Hub.StreamURL == "", "Hub.StreamURL is %q; leave it empty, since it is made by the stack.", s.Hub.StreamURL)
	must(s.Hub.BaseURL == "", "Hub.BaseURL is %q; leave it empty, since it is made from Domain or the API.", s.Hub.BaseURL)
	_, err := hub.ParseSettings(s.Hub.Text())
	must(err == nil, "Hub: %w.", err)
	must(s.Emulator != nil || s.Hub.Grace == 0 || s.Hub.Grace >= workTimeout,
		"Hub.Grace is %s; let it be %s or more, as long as an attempt may last, lest the sweep makes the same callback, or 0 for "+
			"the default.", s.Hub.Grace, workTimeout)
	must(s.Domain == nil || isHost(s.Domain.Name) && strings.HasPrefix(s.Domain.Certificate, "arn:"),
		"Domain needs a host name and the ARN of a certificate for it.")
	must(isBase(s.Base), "Base is %q; begin each segment with a slash, and use letters, digits, - and _, or leave it empty.", s.Base)
	must(!isBase(s.Base) || s.Domain != nil || strings.Count(s.Base, "/") <= 1,
		"Base is %q; without a Domain it is a stage of the API, and can have one segment.", s.Base)
	must(s.WaitingPulls >= 0, "WaitingPulls is %d; it cannot be negative.", s.WaitingPulls)
	must(s.WaitingDrains >= 0, "WaitingDrains is %d; it cannot be negative.", s.WaitingDrains)
	must(s.HeldStreams >= 0, "HeldStreams is %d; it cannot be negative.", s.HeldStreams)
	must(s.RequestsPerSecond > 0 && s.Burst > 0, "RequestsPerSecond and Burst must be at least 1; at 0 nobody gets in.")
	must(slices.Contains(logDays(), s.LogDays), "LogDays is %d; CloudWatch takes one of %v.", s.LogDays, logDays())
	must(s.AlarmTopic == "" || strings.HasPrefix(s.AlarmTopic, "arn:"), "AlarmTopic is %q; give its ARN.", s.AlarmTopic)
	must(s.Emulator == nil || s.Domain == nil, "An emulator has no Domain.")
	return errors.Join(wrong...)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// The architectures of functions, as Go names them.
const (
	archARM = "arm64"
	archAMD = "amd64"
)

// isBase says whether a path can be both the name of a stage and the key of a mapping, and stand in a URL as it is.
func isBase(path string) bool {
	segments := strings.Split(path, "/")
	return path == "" || segments[0] == "" && !slices.ContainsFunc(segments[1:], func(s string) bool {
		return s == "" || strings.Trim(s, letters+"0123456789-_") != ""
	})
}

func isHost(name string) bool {
	return strings.Contains(name, ".") && strings.Trim(name, letters+"0123456789-.") == "" && !strings.HasSuffix(name, ".")
}
