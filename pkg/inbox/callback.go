package inbox

import (
	"html/template"
	"net/http"

	"github.com/mash-hub/mash/pkg/hub"
)

// callbackRoutes are what a person may do about the push of an answer.
func callbackRoutes() []route {
	return []route{{http.MethodPost, "/inbox/{id}/send-again", (*visit).sendAgain, false}}
}

// callbackView says how far the push of an answer has come.
type callbackView struct {
	ID    string
	Says  template.HTML
	Wrong bool // it will not come by itself
	Again bool // the visitor may have it sent again
}

// callback is nil where the agent fetches its answer, and while there is none.
func (v *visit) callback(m *hub.Reading) *callbackView {
	c := m.Callback
	if c == nil || c.State == hub.CallbackWaits {
		return nil
	}
	view := &callbackView{ID: m.ID, Again: c.SendAgain}
	host := clean(c.Host)
	switch {
	case c.State == hub.CallbackDelivered:
		view.Says = v.words.html("callback.delivered", host)
	case c.State == hub.CallbackGivenUp:
		view.Says, view.Wrong = v.words.html("callback.gave.up", host, v.clock.at(c.GivenUpAt)), true
	case c.Next.After(v.clock.now):
		view.Says = v.words.html("callback.next", host, v.clock.left(c.Next), v.clock.at(c.Next))
	default:
		view.Says = v.words.html("callback.now", host)
	}
	return view
}

// sendAgain has the answer pushed again, and shows the message.
func (v *visit) sendAgain() error {
	id := v.r.PathValue("id")
	if err := v.hub.SendAgain(v.r.Context(), v.caller, id); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/inbox/"+id+"#callback", http.StatusSeeOther)
	return nil
}
