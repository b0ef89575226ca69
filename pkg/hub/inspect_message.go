package hub

import (
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// message holds a state to its key, its lists and its due time.
func (i *Inspection) message(r record.Record, s *State) error {
	if err := i.reads(r, s); err != nil {
		i.state = nil
		return err
	}
	tail, directive, ok := letterOf(s.ID)
	if !ok {
		i.flaw(AspectRecords, r.Key, "its id is none of a message")
		return nil
	}
	i.lies(r, letterKey(directive, tail, "state"))
	i.refers(r, s.Account)
	if !directive && !i.agents[s.AgentRef] { // directives come before agents
		i.flaw(AspectReferences, r.Key, "the agent that sent it is not there")
	}
	if !s.Deleted && s.Status != ma2h.StatusOpen && s.Type != ma2h.TypeNotify && !directive && s.Response == nil {
		i.flaw(AspectRecords, r.Key, "it has ended without an outcome")
	}
	if s.Mail.lives() {
		i.mail[s.Mail.Row] = r.Key
	}
	i.listed(r, i.hub.stateRecord(tail, s).Tags)
	i.falls(r, s)
	return nil
}

// falls holds a state to the time at which something of it has to happen. To fall due too early does no harm.
func (i *Inspection) falls(r record.Record, s *State) {
	want := i.hub.due(s)
	kind, _ := s.timer()
	switch {
	case want.IsZero() && !r.Due.IsZero():
		i.flaw(AspectDue, r.Key, "it falls due, and there is nothing to do")
	case !want.IsZero() && r.Due.IsZero():
		i.flaw(AspectDue, r.Key, "it never falls due, and something has to happen at %s", want.Format(time.RFC3339))
	case s.Status == ma2h.StatusOpen || kind == TimerCallback: // else the retention decides, which may have been another
		if r.Due.Truncate(time.Millisecond).After(want) {
			i.flaw(AspectDue, r.Key, "it falls due at %s, and something has to happen at %s", r.Due.Format(time.RFC3339), want.Format(time.RFC3339))
		}
	}
}

// endPart looks at what the records of one part are to each other.
func (i *Inspection) endPart() {
	switch {
	case strings.HasPrefix(i.part, "m#"), strings.HasPrefix(i.part, "d#"):
		i.endMessage()
	case strings.HasPrefix(i.part, "p#"):
		i.endPerson()
	}
	clear(i.held)
	i.state = nil
}

func (i *Inspection) endMessage() {
	kind, tail, _ := strings.Cut(i.part, "#")
	m := &message{tail: tail, directive: kind == "d"}
	_, hasState := i.held[m.stateKey().Sort]
	_, hasContent := i.held[m.contentKey().Sort]
	switch {
	case !hasState:
		i.flaw(AspectReferences, m.contentKey(), "the state of the message is missing")
	case i.state == nil: // cannot be read, which was said
	case i.state.Deleted && hasContent:
		i.flaw(AspectReferences, m.contentKey(), "the message was deleted, and its content is still there")
	case !i.state.Deleted && !hasContent:
		i.flaw(AspectReferences, m.stateKey(), "the content of the message is missing")
	}
}

// endPerson holds what lies beside a person to there being one. An invitation is for a person to come, and names that nobody
// has may have been tried.
func (i *Inspection) endPerson() {
	ref := strings.TrimPrefix(i.part, "p#")
	if i.people[ref] {
		return
	}
	for _, r := range i.held {
		var l Login
		if r.Kind == KindTries || r.Kind == KindPerson || r.Kind == KindLogin && (Decode(r, &l) != nil || l.Use == LoginInvitation) {
			continue
		}
		i.flaw(AspectReferences, r.Key, "the person whose it is is not there")
	}
}
