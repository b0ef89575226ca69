package ma2h

import (
	"crypto/sha256"
	"maps"
)

// Digest is the SHA-256 of the payload as JSON: member order, blanks and the spelling of numbers and escapes make no
// difference; strings go by code point and arrays by order. agent.session and agent.run_id are left out, so that a retry
// from another run finds its first try (spec §8.1). It compares and is never sent, so it is not RFC 8785: unlike there,
// two integers that a double rounds together stay different payloads.
func (e *Envelope) Digest() []byte {
	payload, _ := e.value.(map[string]any)
	if agent, ok := payload["agent"].(map[string]any); ok {
		payload, agent = maps.Clone(payload), maps.Clone(agent)
		delete(agent, "session")
		delete(agent, "run_id")
		payload["agent"] = agent
	}
	sum := sha256.Sum256(appendPlain(make([]byte, 0, len(e.raw)), payload))
	return sum[:]
}
