package ma2h

// messageForm is what an agent submits (spec §4, §5).
var messageForm = &object{
	members: []member{
		{name: "ma2h_version", form: version, required: true},
		{name: "id", form: filled, until: 1},
		{name: "type", form: enum{"notify", "ask", "task"}, required: true},
		{name: "created_at", form: instant, required: true},
		{name: "agent", form: agentForm, required: true},
		{name: "to", form: address, since: MinorInterAgent},
		{name: "to", form: tooOldForTo, until: MinorInterAgent - 1},
		{name: "title", form: title, required: true},
		{name: "body", form: text},
		{name: "priority", form: priority},
		{name: "tags", form: strs},
		{name: "context", form: &list{formFunc(checkPart)}},
		{name: "state", form: free, since: minorHardened},
		{name: "client_ref", form: text},
		{name: "idempotency_key", form: filled},
		{name: "expires_at", form: instant},
		{name: "sensitive", form: flag},
		{name: "request", form: requestForm},
		{name: "action", form: actionForm},
	},
	also: checkVerb,
}

// agentForm is where a message comes from (spec §4.1).
var agentForm = &object{members: []member{
	{name: "id", form: filled, required: true},
	{name: "run_id", form: filled, required: true},
	{name: "runtime", form: enum{"github-actions", "cli", "cloud", "desktop", "openclaw", "other"}},
	{name: "session", form: sessionID, since: MinorInterAgent},
	{name: "session", form: tooOldForSession, until: MinorInterAgent - 1},
	{name: "project", form: text},
	{name: "labels", form: labels},
}}

// Ignoring these in an older message would misroute it to a person (spec §4).
var (
	tooOldForTo      = never("Declare ma2h_version 0.5 or later to send to an agent, or leave out to.")
	tooOldForSession = never("Declare ma2h_version 0.5 or later to name a session, or leave out agent.session.")
)

// checkVerb holds the blocks of a message to its type, and an addressed one to what its leg needs.
func checkVerb(o map[string]any, minor int) *fault {
	var f *fault
	switch o["type"] {
	case "notify":
		f = first(
			refuse(o, "request", "Leave out request; a notify asks for nothing."),
			refuse(o, "action", "Leave out action; a notify asks for nothing."))
	case "ask":
		f = first(
			want(o, "request", "an object that says what is asked"),
			refuse(o, "action", "Leave out action; it is of a task."),
			wantKey(o, minor))
	case "task":
		f = first(
			want(o, "action", "an object that says what is to be done"),
			refuse(o, "request", "Leave out request; it is of an ask."),
			wantKey(o, minor))
	}
	if f != nil {
		return f
	}
	return checkAddressed(o)
}

// wantKey asks for the key that makes it safe to send an ask or task again (spec §8.1). In 0.1 it was optional.
func wantKey(o map[string]any, minor int) *fault {
	if minor < minorHardened {
		return nil
	}
	return want(o, "idempotency_key", "a string that stays the same when you send this again")
}

// checkAddressed holds a message that has a to or a session to a version that knows them, and to a sender whose own id
// can stand in an address (spec §4).
func checkAddressed(o map[string]any) *fault {
	agent := part(o, "agent")
	_, addressed := o["to"]
	_, bound := agent["session"]
	if !addressed && !bound {
		return nil
	}
	if !declares(o, MinorInterAgent) {
		return wrong("/ma2h_version", "Declare ma2h_version 0.5 or later to use to or agent.session.")
	}
	if id, _ := agent["id"].(string); !Addressable(id) {
		return wrong("/agent/id", "Use an agent.id without # to send to agents; # separates the session in an address.")
	}
	return nil
}

// checkPart holds an attachment to one of its three kinds (spec §4.2).
func checkPart(v any, minor int) *fault {
	o, ok := v.(map[string]any)
	if !ok {
		return &fault{wants: "an object"}
	}
	kinds := enum{"text", "data", "file"}
	kind, has := o["kind"]
	if !has {
		kind = absent{}
	}
	if f := kinds.check(kind, minor); f != nil {
		return f.under("kind")
	}
	for _, k := range kinds {
		if k != kind {
			if f := refuse(o, k, "Send one of text, data and file in a part: the one that kind names."); f != nil {
				return f
			}
		}
	}
	return partForm(kind).check(o, minor)
}

func partForm(kind any) form {
	switch kind {
	case "text":
		return textPart
	case "data":
		return dataPart
	}
	return filePart
}

var (
	textPart = &object{members: []member{{name: "text", form: text, required: true}}}
	dataPart = &object{members: []member{{name: "data", form: anything, required: true}}}
	filePart = &object{members: []member{{name: "file", form: fileForm, required: true}}}
	fileForm = &object{members: []member{
		{name: "uri", form: filled, required: true},
		{name: "name", form: text},
		{name: "mime_type", form: text},
	}}
)
