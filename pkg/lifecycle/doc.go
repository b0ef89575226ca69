// Package lifecycle holds the state machines of MA2H as pure functions: the resolution of an ask or task (spec §7) and the
// response track (spec §14.2). It knows no store and no clock; whoever calls it commits what it decides.
package lifecycle
