package ma2h

import "slices"

// capabilityForm is what a hub offers (spec §8.0).
var capabilityForm = &object{
	members: []member{
		{name: "ma2h_version", form: version, required: true},
		{name: "max_body_bytes", form: whole},
		{name: "max_part_bytes", form: whole},
		{name: "max_context_parts", form: whole},
		{name: "auth_schemes", form: strs},
		{name: "callback_auth_schemes", form: strs},
		{name: "signature_algs", form: strs},
		{name: "rate_limit", form: &object{members: []member{
			{name: "requests_per_minute", form: whole},
			{name: "inbox_depth", form: whole},
			{name: "inter_agent_requests_per_minute", form: whole, since: MinorInterAgent},
		}}},
		{name: "retention_days", form: whole},
		{name: "replay_window_seconds", form: whole},
		{name: "inbound", form: inboundForm, since: MinorInbound},
		{name: "ack", form: &object{members: []member{
			{name: "enabled", form: flag},
			{name: "signature_algs", form: strs},
		}}, since: MinorInbound},
		{name: "presence", form: &object{members: []member{
			{name: "enabled", form: flag},
			{name: "freshness_seconds", form: whole},
		}}, since: MinorInbound},
		{name: "sessions", form: sessionsForm, since: MinorInterAgent},
		{name: "inter_agent", form: &object{members: []member{
			{name: "enabled", form: flag},
			{name: "entry_kinds", form: strs},
			{name: "sender_allowlists", form: flag},
		}}, since: MinorInterAgent},
	},
	also: checkInterAgent,
}

var inboundForm = &object{members: []member{
	{name: "enabled", form: flag},
	{name: "poll_url", form: filled},
	{name: "ack_url", form: filled},
	{name: "max_batch", form: whole},
	{name: "visibility_timeout_seconds", form: whole},
	{name: "retention_days", form: whole},
	{name: "signature_algs", form: strs},
	{name: "webhook_supported", form: flag},
	{name: "session_param", form: flag, since: MinorInterAgent},
	{name: "stream_url", form: filled, since: MinorInterAgent},
	{name: "stream_max_hold_seconds", form: whole, since: MinorInterAgent},
}}

var sessionsForm = &object{members: []member{
	{name: "enabled", form: flag},
	{name: "min_ttl_seconds", form: whole},
	{name: "max_ttl_seconds", form: whole},
	{name: "max_live_per_agent", form: whole},
	{name: "agent_list_visibility", form: flag},
	{name: "terminal_retention_seconds", form: whole},
	{name: "operator_hard_stop", form: flag},
}}

// checkInterAgent holds a hub that offers mail between agents to what that needs (spec §1, §8.0).
func checkInterAgent(o map[string]any, minor int) *fault {
	leg := part(o, "inter_agent")
	if minor < MinorInterAgent || leg["enabled"] != true {
		return nil
	}
	for _, needs := range []struct{ object, flag string }{
		{"inbound", "enabled"},
		{"inbound", "session_param"},
		{"ack", "enabled"},
		{"sessions", "enabled"},
		{"inter_agent", "sender_allowlists"},
	} {
		if f := want(o, needs.object, "an object; mail between agents needs it"); f != nil {
			return f
		}
		if part(o, needs.object)[needs.flag] != true {
			f := &fault{wants: "true; mail between agents needs it"}
			return f.under(needs.flag).under(needs.object)
		}
	}
	kinds, _ := leg["entry_kinds"].([]any)
	for _, kind := range []string{"message", "response", "receipt"} {
		if !slices.Contains(kinds, any(kind)) {
			return wrong("/inter_agent/entry_kinds",
				"Name message, response and receipt in entry_kinds; mail between agents needs all three.")
		}
	}
	return nil
}
