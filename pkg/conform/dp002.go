package conform

import (
	"net/http"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// dp002 is about whose a message is.
func dp002() []Clause {
	return []Clause{
		{Name: "dp-002.1", Section: "9.1", Title: "another agent cannot cancel a message", test: anotherCannotCancel},
		{Name: "dp-002.2", Section: "9.1", Title: "nor read it or get its Response", test: anotherCannotRead},
		{Name: "dp-002.3", Section: "9.1", Title: "it stays open for those who may answer", test: staysResolvable},
		{Name: "dp-002.4", Section: "8.4", Title: "its sender cancels it, and again to the same end", test: senderCancels},
	}
}

// unknownID is a message's id that nobody has.
const unknownID = "msg_00000000000000000000000000"

func anotherCannotCancel(t *trial) {
	a, b := t.agent("a"), t.agent("b")
	id := a.accepted(asks("").by(t.person().actor))
	refused := b.cancel(id).hides("only its sender cancels a message (spec §9.1)")
	if refused.status == http.StatusNotFound {
		refused.sameAs(b.cancel(unknownID), id, unknownID, "a message of another is like none (spec §9.1)")
	}
	a.pull(id).shows("/status", "open", "the cancel of another changes nothing (spec §9.1)")
}

func anotherCannotRead(t *trial) {
	a, b, person := t.agent("a"), t.agent("b"), t.person()
	id := a.accepted(asks("").by(person.actor))
	person.answers(id, "approve")
	b.call("pull", nil, id).hides("only its sender reads a message (spec §9.1)")
	b.call("ack", doc{}, id).hides("only its sender acknowledges a Response (spec §9.1, §14.3)")
	a.pull(id).shows("/response/resolution", "answered", "its sender reads the Response (spec §8.2)")
}

func staysResolvable(t *trial) {
	a, b, person := t.agent("a"), t.agent("b"), t.person()
	listed, unlisted := a.accepted(asks("").by(person.actor)), a.accepted(asks(""))
	b.cancel(listed).hides("only its sender cancels a message (spec §9.1)")
	b.cancel(unlisted).hides("only its sender cancels a message (spec §9.1)")
	a.resolve(listed, answered("approve")).hides("a sender that is not listed does not answer (spec §9.1)")
	person.answers(listed, "approve")
	b.resolve(unlisted, answered("approve")).hides("without a list only the sender answers (spec §9.1)")
	a.answers(unlisted, "approve")
}

func senderCancels(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(asks("").by(person.actor))
	for range 2 {
		a.cancel(id).is(http.StatusOK, "a sender's cancel, and its repetition (spec §8.4)").
			shows("/status", "cancelled", "the ask is cancelled (spec §8.4)")
	}
	a.pull(id).shows("/response/resolution", "cancelled", "a cancel has a Response (spec §7)")
	other := a.accepted(asks("").by(person.actor))
	person.answers(other, "deny")
	a.cancel(other).refused(http.StatusConflict, "a cancel after another end loses (spec §8.4)", ma2h.CodeAlreadyTerminal)
}
