// Package realtime holds the tests of a hub in real time: over HTTP alone, with an owner's token and a callback receiver,
// as agents and people meet it. The same tests run against the server of mash serve, against a hub over DynamoDB in this
// process, and, where MASH_TEST_STACK names the file of one, against a deployed stack. Outside of tests there is only
// Settings, which such a stack is deployed with.
package realtime
