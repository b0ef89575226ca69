package hub

import (
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Whoever may not know whether something is there is told that it is not, in the same words (spec §8.7.1, §9.1), and it is to
// take as long: where there is nothing, something of its kind is decoded in its place. What is read of a store still takes a
// little longer than what is not there.
var (
	standInState   = standIn(KindState, usualState)
	standInSession = standIn(KindSession, usualSession)
	standInAgent   = standIn(KindAgent, usualAgent)
	standInLive    = standIn(KindLive, usualLive)
)

// standIn returns a function that takes as long as to decode the record that would have been there. Its own is made once it is
// needed, so that no start takes longer for it.
func standIn[T any](kind string, usual func() *T) func() {
	rec := sync.OnceValue(func() record.Record { return record.Record{Kind: kind, Body: Encode(usual())} })
	return func() { _ = Decode(rec(), new(T)) }
}

// usualState and those that follow are what there is most of.
func usualState() *State {
	ref := ma2h.NewTail()
	return &State{
		Format: RecordFormat, ID: ma2h.NewID(ma2h.PrefixDirective), Account: ref[:12], AgentRef: ref, AgentID: "agent", Version: "0.6",
		Title: "A title", Digest: make([]byte, 32), AcceptedAt: time.Now(), Status: ma2h.StatusQueued, StatusAt: time.Now(),
		From: "human:owner", Mail: &Mail{
			To: "agent:agent", ToRef: ref, Row: record.Key{Part: directiveLane(ref), Sort: ref}, KeepUntil: time.Now(),
		},
	}
}

func usualSession() *Session {
	ref := ma2h.NewTail()
	return &Session{
		ID: ma2h.NewID(ma2h.PrefixSession), Account: ref[:12], AgentRef: ref, AgentID: "agent", State: ma2h.SessionActive, TTL: 90,
		CreatedAt: time.Now(), LastSeen: time.Now(), ExpiresAt: time.Now(),
	}
}

func usualAgent() *Agent {
	ref := ma2h.NewTail()
	return &Agent{
		Ref: ref, ID: "agent", Account: ref[:12], CreatedAt: time.Now(),
		Credentials: []Credential{{Hash: make([]byte, 32), CreatedAt: time.Now()}}, Senders: &Allowlist{Agents: []string{"agent"}},
	}
}

func usualLive() *Live { return &Live{Sessions: []string{ma2h.NewID(ma2h.PrefixSession)}} }
