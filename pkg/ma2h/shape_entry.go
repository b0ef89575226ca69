package ma2h

// entryForm is what a mailbox delivers (spec §8.7.1). Until 0.4 that was only the directive.
var entryForm = formFunc(func(v any, minor int) *fault {
	o, ok := v.(map[string]any)
	if !ok {
		return &fault{wants: "an object"}
	}
	if minor < MinorInterAgent {
		return directiveForm.check(v, minor)
	}
	kind, typed := o["type"]
	if !typed {
		return responseEntry(v, minor)
	}
	switch kind {
	case "directive":
		return directiveForm.check(v, minor)
	case "notify", "ask", "task":
		return messageEntry(v, minor)
	case "receipt":
		return receiptForm.check(v, minor)
	}
	return wrong("/type", "Send type as one of directive, notify, ask, task and receipt, or none in a Response.")
})

// directiveForm is a person's instruction to an agent, as delivered (spec §13.1).
var directiveForm = &object{
	members: []member{
		{name: "ma2h_version", form: since0_4, required: true},
		{name: "type", form: enum{"directive"}, required: true},
		{name: "id", form: filled, required: true},
		{name: "from", form: texts("a person or the system: human:<id> or system:<id>", isAuthor), required: true},
		{name: "to", form: texts("an agent: agent:<id>", isAgent), required: true},
		{name: "created_at", form: instant, required: true},
		{name: "title", form: title, required: true},
		{name: "body", form: text},
		{name: "priority", form: priority},
		{name: "tags", form: strs},
		{name: "context", form: &list{formFunc(checkPart)}},
		{name: "expires_at", form: instant},
		{name: "sensitive", form: flag},
		{name: "request", form: never("Leave out request; a directive is one-way.")},
		{name: "action", form: never("Leave out action; a directive is one-way.")},
		{name: "state", form: never("Leave out state; it is of an agent's own messages.")},
	},
	also: func(o map[string]any, minor int) *fault {
		if minor < MinorInterAgent || !declares(o, MinorInterAgent) {
			return nil // ids and addresses of before 0.5 stay valid (spec §8.7.1)
		}
		if f := wantPrefix(o, "id", PrefixDirective); f != nil {
			return f
		}
		if to, _ := o["to"].(string); !isAddress(to) {
			f := &fault{wants: address.wants}
			return f.under("to")
		}
		return nil
	},
}

func isAgent(s string) bool { return len(s) > len(AgentPrefix) && begins(AgentPrefix)(s) }

func isAuthor(s string) bool { return isIdentity(s) && !isAgent(s) }

// messageEntry is an addressed message as delivered: with id and from, without what is the sender's alone (spec §8.7.1).
func messageEntry(v any, minor int) *fault {
	if f := messageForm.check(v, minor); f != nil {
		return f
	}
	return messageEntryForm.check(v, minor)
}

var messageEntryForm = &object{members: []member{
	{name: "ma2h_version", form: since0_5},
	{name: "id", form: texts("an id that begins with msg_", begins(PrefixMessage)), required: true},
	{name: "from", form: address, required: true},
	{name: "to", form: address, required: true},
	{name: "state", form: never("Leave out state; it is the sender's own.")},
	{name: "client_ref", form: never("Leave out client_ref; it is the sender's own.")},
	{name: "request", form: withoutCallback},
	{name: "action", form: withoutCallback},
}}

var withoutCallback = &object{members: []member{
	{name: "callback", form: never("Leave out callback; it is the sender's own.")},
}}

// responseEntry is a Response for the session that asked (spec §6). It has no type, which tells it from the others.
func responseEntry(v any, minor int) *fault {
	if f := responseForm.check(v, minor); f != nil {
		return f
	}
	return responseEntryForm.check(v, minor)
}

var responseEntryForm = &object{members: []member{
	{name: "ma2h_version", form: since0_5},
	{name: "request", form: never("Leave out request; a Response has none.")},
	{name: "action", form: never("Leave out action; a Response has none.")},
}}

// receiptForm is what became of a message, for its sender (spec §8.7.1, §14.2).
var receiptForm = &object{members: []member{
	{name: "ma2h_version", form: since0_5, required: true},
	{name: "type", form: enum{"receipt"}, required: true},
	{name: "id", form: texts("an id that begins with rcpt_", begins(PrefixReceipt)), required: true},
	{name: "in_reply_to", form: filled, required: true},
	{name: "event", form: enum{"bounced"}, required: true},
	{name: "prior", form: enum{"queued", "delivered"}, required: true},
	{name: "at", form: instant, required: true},
	{name: "session", form: sessionID, required: true},
	{name: "to", form: texts("the address of a session: agent:<id>#<session>", isSessionAddress), required: true},
	{name: "request", form: never("Leave out request; a receipt has none.")},
	{name: "action", form: never("Leave out action; a receipt has none.")},
	{name: "state", form: never("Leave out state; a receipt has none.")},
}}

func isSessionAddress(s string) bool {
	a, ok := ParseAddress(s)
	return ok && a.Session != ""
}
