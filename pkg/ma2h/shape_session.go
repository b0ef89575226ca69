package ma2h

// sessionForm is a session as a hub returns it (spec §16).
var sessionForm = &object{
	members: append([]member{
		{name: "id", form: sessionID, required: true},
		{name: "agent_id", form: texts("an agent id without #", Addressable), required: true},
		{name: "state", form: enum{"active", "closed", "expired"}, required: true},
		{name: "created_at", form: instant, required: true},
		{name: "expires_at", form: instant, required: true},
		{name: "last_seen", form: instant},
		{name: "closed_at", form: instant},
		{name: "closed_by_operator", form: &leaf{"true, or not at all", isTrue}},
	}, registerForm.members...),
	also: checkSession,
}

// registerForm is the body of a registration; all of it is optional (spec §16.1).
var registerForm = &object{members: []member{
	{name: "run_id", form: text},
	{name: "label", form: text},
	{name: "kind", form: text},
	{name: "project", form: text},
	{name: "labels", form: labels},
	{name: "ttl_seconds", form: positive},
}}

var sessionEnvelopeForm = &object{members: []member{
	{name: "session", form: sessionForm, required: true},
}}

var sessionListForm = &object{members: []member{
	{name: "sessions", form: &list{sessionForm}, required: true},
	{name: "scope", form: enum{"own", "account"}},
}}

func isTrue(v any, _ int) bool { return v == true }

// checkSession holds the end of a session to its state: the operator's mark rides the winning close (spec §16.3, §16.4).
func checkSession(o map[string]any, _ int) *fault {
	if is(o, "state", "active") {
		if f := refuse(o, "closed_at", "Leave out closed_at; the session is active."); f != nil {
			return f
		}
	}
	if is(o, "state", "closed") {
		return nil
	}
	return refuse(o, "closed_by_operator", "Leave out closed_by_operator; the session was not closed.")
}
