package endpoint

import "fmt"

// Function is one of the functions of a deployment: there is one for each endpoint and worker.
type Function struct {
	Name   Name
	Access Access
}

// Functions returns every function in a fixed order: those of endpoints, then the workers. The slice is the caller's own.
func Functions() []Function {
	var all []Function
	for _, e := range All() {
		all = append(all, Function{e.Name, e.Access})
	}
	return append(all, Workers()...)
}

// The workers: functions that are no endpoint, for the pages and for what happens without a request.
const (
	Inbox   Name = "inbox"   // the pages, and every path that is no endpoint
	Sweep   Name = "sweep"   // does what is due, each minute
	Outbox  Name = "outbox"  // starts an execution for what was written and is due soon
	Fire    Name = "fire"    // ends a message at its deadline or a session at that of its lease, for an execution
	Deliver Name = "deliver" // makes one attempt at a callback, for an execution
)

// The messages of log lines that what watches over a deployment counts.
const (
	LogAttempt    = "callback attempt"                                 // an attempt at a callback, with delivered, true or false
	LogFailed     = "due work failed and is tried again"               // of the sweep, for each record
	LogUnfinished = "the sweep had no time for everything that is due" // of the sweep, for a run
)

// Workers returns every worker in a fixed order. The slice is the caller's own.
func Workers() []Function {
	push := settling().and(Access{Get: kinds(kindAgent), List: kinds(kindKey), Unwraps: true})
	sweep := push.and(settlingDirectives()).and(Access{
		List: kinds(kindRow), Erase: kinds(kindSession), Forgets: true, Indexes: []Index{{IndexDue, kinds("due#")}},
	})
	pages := settling().and(settlingDirectives()).and(bouncing()).and(Access{
		Get:   kinds(kindAccount, kindAgent, kindLimited, kindLogin, kindPassword, kindPerson, kindSeen, kindTries),
		List:  kinds(kindKey, kindLogin),
		Put:   kinds(kindAccount, kindAgent, kindDeed, kindLogin, kindPassword, kindPerson, kindTries),
		Erase: kinds(kindLogin, kindPassword),
		Check: kinds(kindAccount, kindLogin, kindPerson),
		Indexes: []Index{
			{IndexFirst, kinds("agent#", "done#", "invite#", "limit#", "mail#", "open#", "person#", "told#")}, {IndexSecond, kinds("done#", "mail#", "sess#")},
		},
		Unwraps: true,
	})
	return []Function{
		{Inbox, pages},
		{Sweep, sweep},
		{Outbox, Access{Arms: true, Rings: true}},
		{Fire, settling().and(bouncing())},
		{Deliver, push.and(settlingDirectives())},
	}
}

// WorkerOf returns the worker with the given name, and panics when there is none: names are constants of this package.
func WorkerOf(name Name) Function {
	for _, w := range Workers() {
		if w.Name == name {
			return w
		}
	}
	panic(fmt.Sprintf("endpoint: no worker %q", name))
}
