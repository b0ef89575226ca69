package ma2h

import "slices"

// submitAckForm is the answer to a submit (spec §8.1). It is closed.
var submitAckForm = &object{
	closed: true,
	members: []member{
		{name: "id", form: filled, required: true},
		{name: "status", form: formFunc(checkAckStatus), required: true},
		{name: "poll_url", form: filled, required: true},
		{name: "review_url", form: text},
		{name: "destination", form: destinationForm, since: MinorInterAgent},
	},
	also: func(o map[string]any, minor int) *fault {
		if minor >= MinorInterAgent && isAny(o, "status", "queued", "acknowledged", "bounced") {
			return want(o, "destination", "an object; the status is one of an addressed message")
		}
		return nil
	},
}

var (
	ackStatuses          = enum{"open", "delivered", "answered", "declined", "cancelled", "expired", "completed", "dismissed"}
	addressedAckStatuses = append(slices.Clone(ackStatuses), "queued", "acknowledged", "bounced")
)

func checkAckStatus(v any, minor int) *fault {
	if minor < MinorInterAgent {
		return ackStatuses.check(v, minor)
	}
	return addressedAckStatuses.check(v, minor)
}

// reachability is what presence and the snapshot of a submit say about an agent (spec §15.2).
var reachability = enum{"online", "offline", "unknown"}

var destinationForm = &object{
	closed: true,
	members: []member{
		{name: "state", form: reachability, required: true},
		{name: "last_seen", form: instant},
	},
	also: checkUnknown,
}

// presenceForm is whether an agent listens (spec §15.3).
var presenceForm = &object{
	members: []member{
		{name: "agent_id", form: filled, required: true},
		{name: "state", form: reachability, required: true},
		{name: "last_seen", form: instant},
		{name: "freshness_seconds", form: whole},
	},
	also: checkUnknown,
}

func checkUnknown(o map[string]any, _ int) *fault {
	if is(o, "state", "unknown") {
		return refuse(o, "last_seen", "Leave out last_seen where the state is unknown.")
	}
	return nil
}

// readForm is a message as read: the envelope with its status, its Response and its tracks (spec §8.2, §14.2).
var readForm = formFunc(func(v any, minor int) *fault {
	if f := messageForm.check(v, minor); f != nil {
		return f
	}
	return readMembers.check(v, minor)
})

var readMembers = &object{
	members: []member{
		{name: "id", form: filled, required: true},
		{name: "status", form: text, required: true},
		{name: "response", form: responseForm},
		{name: "delivery", form: deliveryForm, since: MinorInbound},
		{name: "mailbox", form: mailboxForm, since: MinorInterAgent},
	},
	also: checkRead,
}

func checkRead(o map[string]any, minor int) *fault {
	_, addressed := o["to"]
	if minor >= MinorInterAgent {
		f := refuse(o, "mailbox", "Leave out mailbox; the message is not addressed.")
		if addressed {
			f = want(o, "mailbox", "an object; the message is addressed")
		}
		if f != nil {
			return f
		}
	}
	if is(o, "type", "notify") {
		return checkNotifyRead(o, addressed, minor)
	}
	return checkResolvable(o, minor)
}

// checkNotifyRead holds a notify to what can become of it: nothing but delivery (spec §5.1).
func checkNotifyRead(o map[string]any, addressed bool, minor int) *fault {
	if f := refuse(o, "response", "Leave out response; a notify has none."); f != nil {
		return f
	}
	if minor >= MinorInbound {
		if f := refuse(o, "delivery", "Leave out delivery; it is about the answer, and a notify has none."); f != nil {
			return f
		}
	}
	switch {
	case addressed:
		if part(o, "mailbox")["state"] != o["status"] {
			return wrong("/status", "Send the state of mailbox as the status of an addressed notify.")
		}
	case is(o, "status", "delivered"), minor == minorOldest && is(o, "status", "created"):
	default:
		return wrong("/status", "Send the status of a notify as delivered.")
	}
	return nil
}

var (
	askStatuses     = enum{"open", "answered", "declined", "cancelled", "expired"}
	taskStatuses    = enum{"open", "completed", "dismissed", "expired"}
	oldTaskStatuses = append(slices.Clone(taskStatuses), "cancelled") // until 0.1 an agent could cancel any message
)

// checkResolvable holds the status of an ask or task to its Response (spec §6, §7).
func checkResolvable(o map[string]any, minor int) *fault {
	statuses, ask := taskStatuses, is(o, "type", "ask")
	switch {
	case ask:
		statuses = askStatuses
	case minor == minorOldest:
		statuses = oldTaskStatuses
	}
	if f := statuses.check(o["status"], minor); f != nil {
		return f.under("status")
	}
	if is(o, "status", "open") {
		return refuse(o, "response", "Leave out response while the status is open.")
	}
	if f := want(o, "response", "an object; the message is resolved"); f != nil {
		return f
	}
	response := part(o, "response")
	if response["resolution"] != o["status"] {
		return wrong("/response/resolution", "Send the status as the resolution.")
	}
	return checkDetail(response, ask, minor)
}

// checkDetail holds the Response of a message whose type is known to that type.
func checkDetail(response map[string]any, ask bool, minor int) *fault {
	var f *fault
	switch {
	case ask:
		f = want(response, "response", wantsDetail)
	case minor >= minorHardened:
		f = refuseValue(part(response, "response"))
	}
	if f != nil {
		return f.under("response")
	}
	return nil
}

// deliveryForm is the response track of an ask or task (spec §14.2).
var deliveryForm = &object{
	members: []member{
		{name: "state", form: enum{"delivered-to-agent", "acknowledged"}, required: true, until: MinorInterAgent - 1},
		{name: "state", form: enum{"delivered-to-agent", "acknowledged", "expired"}, required: true, since: MinorInterAgent},
		{name: "delivered_at", form: instant},
		{name: "acknowledged_at", form: instant},
		{name: "ack", form: ackForm},
	},
	also: checkTrack,
}

// mailboxForm is the mailbox track of an addressed message (spec §14.2).
var mailboxForm = &object{
	members: []member{
		{name: "state", form: enum{"queued", "delivered", "acknowledged", "bounced", "expired"}, required: true},
		{name: "delivered_at", form: instant},
		{name: "acknowledged_at", form: instant},
		{name: "ack", form: ackForm},
		{name: "prior", form: enum{"queued", "delivered"}},
	},
	also: func(o map[string]any, minor int) *fault {
		return first(checkTrack(o, minor), checkPrior(o))
	},
}

// checkTrack holds the times of a track to its state: expired means never delivered.
func checkTrack(o map[string]any, _ int) *fault {
	if isAny(o, "state", "queued", "expired") {
		if f := refuse(o, "delivered_at", "Leave out delivered_at; queued and expired mean never delivered."); f != nil {
			return f
		}
	}
	if is(o, "state", "acknowledged") {
		return nil
	}
	return first(
		refuse(o, "acknowledged_at", "Leave out acknowledged_at until the state is acknowledged."),
		refuse(o, "ack", "Leave out ack until the state is acknowledged."))
}

// checkPrior holds the stamp of a bounce to it: queued means never seen, so it never stands with delivered_at.
func checkPrior(o map[string]any) *fault {
	switch {
	case !is(o, "state", "bounced"):
		return refuse(o, "prior", "Leave out prior; only a bounce has it.")
	case is(o, "prior", "queued"):
		return refuse(o, "delivered_at", "Leave out delivered_at; prior queued means never delivered.")
	}
	return nil
}
