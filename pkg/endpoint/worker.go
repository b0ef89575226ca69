package endpoint

import "fmt"

// Worker is a function that is no endpoint: the pages, and what happens without a request.
type Worker struct {
	Name   Name
	Access Access
}

// The workers.
const (
	Inbox   Name = "inbox"   // the pages, and every path that is no endpoint
	Sweep   Name = "sweep"   // does what is due, each minute
	Outbox  Name = "outbox"  // starts an execution for what was written and is due soon
	Fire    Name = "fire"    // ends a message at its deadline, for an execution
	Deliver Name = "deliver" // makes one attempt at a callback, for an execution
)

// LogAttempt is the message under which workers log an attempt at a callback, with delivered, true or false. What watches
// over a deployment counts these lines.
const LogAttempt = "callback attempt"

// Workers returns every worker in a fixed order. The slice is the caller's own.
func Workers() []Worker {
	settle := Access{Get: kinds(kindContent, kindState), Put: kinds(kindState), Erase: kinds(kindContent)}
	push := Access{
		Get: kinds(kindAgent, kindContent, kindState), List: kinds(kindKey),
		Put: kinds(kindState), Erase: kinds(kindContent), Unwraps: true,
	}
	sweep := push
	sweep.Indexes = []Index{{IndexDue, kinds("due#")}}
	return []Worker{
		{Inbox, Access{
			Get: kinds(kindAccount, kindContent, kindLogin, kindPerson, kindState), List: kinds(kindKey),
			Put:     kinds(kindAccount, kindDeed, kindLogin, kindState),
			Erase:   kinds(kindContent, kindLogin),
			Indexes: []Index{{IndexFirst, kinds("done#", "open#", "told#")}}, Unwraps: true,
		}},
		{Sweep, sweep},
		{Outbox, Access{Arms: true}},
		{Fire, settle},
		{Deliver, push},
	}
}

// WorkerOf returns the worker with the given name, and panics when there is none: names are constants of this package.
func WorkerOf(name Name) Worker {
	for _, w := range Workers() {
		if w.Name == name {
			return w
		}
	}
	panic(fmt.Sprintf("endpoint: no worker %q", name))
}
