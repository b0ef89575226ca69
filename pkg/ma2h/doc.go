// Package ma2h holds the words of MA2H, the Multi-agent to Human Protocol: wire types, error codes, ids, addresses and
// versions, the shape of every document (Shape, which agrees with the JSON Schemas of the schema folder) and the rules
// that no schema can say (Rules). It does no I/O.
//
// A body from outside goes through Parse first, which refuses what Go's decoders would mend in silence; then Shape; then
// it is decoded into a wire type; then Rules.
package ma2h
