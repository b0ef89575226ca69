// Package conform asks a hub, any hub of MA2H, whether it does what the protocol obliges it to. It knows nothing of the hub
// but its URL and some credentials. What it asks is a list of clauses, each named after a vector of the protocol's
// conformance plan and a number in it (dp-019.5), in our words, with the section of the text that decides.
//
// A clause speaks to the hub as agents and people of an account of its own where there is a way to get one, and needs time
// to pass. Both come from a Stage: Virtual drives a hub's control API, with a tenant for each clause and a clock at its
// command; Real has credentials, and waits.
package conform
