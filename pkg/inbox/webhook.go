package inbox

import (
	"html/template"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
)

// webhookView is where what people tell an agent is pushed.
type webhookView struct {
	URL   string        // as typed, or as it is, to owners
	About template.HTML // where it leads, since when, by whom; empty where there is none
	Wrong bool          // nothing is pushed there any more
}

func (v *visit) webhook(a *hub.AgentDetail) webhookView {
	w := a.Webhook
	if w == nil {
		return webhookView{}
	}
	view := webhookView{URL: w.URL, About: v.words.html("webhook.to", clean(w.Host), v.clock.ago(w.At), v.who(w.By)), Wrong: !w.Bound}
	if view.Wrong {
		view.About = v.words.html("webhook.unbound", clean(w.Host), v.clock.ago(w.At), v.who(w.By))
	}
	return view
}

// setWebhook has what people tell an agent pushed to what was typed, or no more where that is empty.
func (v *visit) setWebhook() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	typed := strings.TrimSpace(v.r.PostForm.Get("url"))
	did := "pushed"
	if v.r.PostForm.Get("do") == "remove" {
		typed = ""
	}
	if typed == "" {
		did = "unpushed"
	}
	if err := v.hub.SetWebhook(v.r.Context(), v.caller, id, typed); err != nil {
		return v.wrong(err, func(view *agentView, _ string, why template.HTML) { view.Webhook.URL, view.Wrong["url"] = typed, why })
	}
	return v.done(did)
}

// webhookEvents are the tries to push a directive, and what is still to come of them.
func (v *visit) webhookEvents(c *hub.CallbackView) []event {
	out := v.attempts(c)
	if c != nil && c.State == hub.CallbackTries {
		out = append(out, v.still("todo", "event.todo.told.pushed", clean(c.Host), v.clock.at(c.Next)))
	}
	return out
}
