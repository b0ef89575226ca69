package ma2h

// responseForm is the outcome of an ask or task (spec §6).
var responseForm = &object{
	members: []member{
		{name: "ma2h_version", form: version, required: true},
		{name: "in_reply_to", form: filled, required: true},
		{name: "resolution_id", form: filled, required: true, since: minorHardened},
		{name: "agent", form: callerForm, required: true},
		{name: "resolution", form: enum{"answered", "declined", "cancelled", "expired", "completed", "dismissed"}, required: true},
		{name: "response", form: detailForm},
		{name: "defaulted", form: flag, since: minorHardened},
		{name: "state", form: free, since: minorHardened},
	},
	also: checkOutcome,
}

var callerForm = &object{members: []member{
	{name: "id", form: filled, required: true},
	{name: "run_id", form: filled, required: true},
}}

// detailForm is what was decided, by whom and when. In 0.1 nobody attested the actor.
var detailForm = &object{members: []member{
	{name: "value", form: answer},
	{name: "edited", form: flag},
	{name: "actor", form: filled, required: true, until: 1},
	{name: "actor", form: identity, required: true, since: minorHardened},
	{name: "resolved_at", form: instant, required: true},
	{name: "comment", form: text},
	{name: "checklist", form: &list{anything}, since: minorHardened, until: MinorInterAgent - 1},
	{name: "checklist", form: finalSteps, since: MinorInterAgent},
}}

var finalSteps = &list{&object{members: []member{
	{name: "text", form: text, required: true},
	{name: "done", form: flag, required: true},
}}}

const wantsDetail = "an object that says what was decided, by whom and when"

// checkOutcome holds what was decided to the resolution (spec §6).
func checkOutcome(o map[string]any, minor int) *fault {
	detail := part(o, "response")
	var f *fault
	switch o["resolution"] {
	case "answered":
		f = want(o, "response", wantsDetail)
		if f == nil {
			f = wantValue(detail)
		}
	case "declined":
		f = want(o, "response", wantsDetail)
	case "cancelled":
		if minor >= minorHardened {
			f = want(o, "response", wantsDetail)
		}
	case "completed", "dismissed":
		if minor >= minorHardened {
			f = refuseValue(detail)
		}
	}
	if f != nil || minor < minorHardened {
		return f
	}
	if f := checkDefaulted(o, detail); f != nil {
		return f
	}
	if minor >= MinorInterAgent && declares(o, MinorInterAgent) {
		return wantPrefix(o, "resolution_id", PrefixResolution)
	}
	return nil
}

// checkDefaulted holds a Response that says a default was applied to the actor who applies it, which is signed (spec §6).
func checkDefaulted(o, detail map[string]any) *fault {
	if o["defaulted"] != true {
		return nil
	}
	if !is(o, "resolution", "expired") {
		return wrong("/resolution", "Send resolution as expired where defaulted is true.")
	}
	if f := want(o, "response", wantsDetail); f != nil {
		return f
	}
	if !is(detail, "actor", ActorDefaultOnExpire) {
		return wrong("/response/actor", "Send the actor as system:default_on_expire where defaulted is true.")
	}
	return nil
}

func wantValue(detail map[string]any) *fault {
	if f := want(detail, "value", "the value of an option, or an object for mode input"); f != nil {
		return f.under("response")
	}
	return nil
}

func refuseValue(detail map[string]any) *fault {
	if f := refuse(detail, "value", "Leave out value; a task has none."); f != nil {
		return f.under("response")
	}
	return nil
}

// wantPrefix holds an id to its namespace (spec §8.7.1). Its type is known to be right.
func wantPrefix(o map[string]any, name, prefix string) *fault {
	if s, _ := o[name].(string); begins(prefix)(s) {
		return nil
	}
	f := &fault{wants: "an id that begins with " + prefix}
	return f.under(name)
}

// resolveForm is the body of a resolve (spec §8.8).
var resolveForm = &object{
	members: []member{
		{name: "resolution", form: enum{"answered", "declined", "completed", "dismissed"}, required: true},
		{name: "value", form: answer},
		{name: "comment", form: text},
		{name: "checklist", form: finalSteps},
	},
	also: checkResolve,
}

func checkResolve(o map[string]any, _ int) *fault {
	if is(o, "resolution", "answered") {
		if f := want(o, "value", "the value of an option, or an object for mode input"); f != nil {
			return f
		}
	} else if f := refuse(o, "value", "Leave out value; only an answer has one."); f != nil {
		return f
	}
	if isAny(o, "resolution", "answered", "declined") {
		return refuse(o, "checklist", "Leave out checklist; it is of a task.")
	}
	return nil
}

// ackForm is the confirmation that a party got what the other sent (spec §14.1).
var ackForm = &object{members: []member{
	{name: "ma2h_version", form: since0_4, required: true},
	{name: "type", form: enum{"ack"}, required: true},
	{name: "in_reply_to", form: filled, required: true},
	{name: "by", form: identity, required: true},
	{name: "acked_at", form: instant, required: true},
	{name: "note", form: text},
	{name: "resolution_id", form: filled},
}}

// errorForm is the body of every error (spec §8.5), with what stands where a resolve or cancel lost (§8.4, §8.8).
var errorForm = &object{members: []member{
	{name: "error", form: &object{members: []member{
		{name: "code", form: filled, required: true},
		{name: "message", form: text, required: true},
		{name: "field", form: text},
	}}, required: true},
	{name: "id", form: text},
	{name: "status", form: text},
	{name: "resolution", form: text},
}}
