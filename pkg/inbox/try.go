package inbox

import (
	"html/template"
	"net/http"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// tryRoutes hand over what lets an agent ask for the first time. It stands on the list, where the ask will appear.
func tryRoutes() []route {
	return []route{{http.MethodPost, "/inbox", (*visit).try, false}}
}

// suggestedAgent is the name of an agent to try with. Whoever asks for it again gets a fresh token for it; an agent of
// another name, which may be at work, is left alone.
const suggestedAgent = "try"

// tryView is what lets an agent ask, or the way to it.
type tryView struct {
	Name    string
	Wrong   template.HTML
	Agent   theirs
	Snippet *snippet // nil before a token was made
}

// try makes an agent, or gives the suggested one a fresh token, and shows on the list what to run.
func (v *visit) try() error {
	name := v.r.PostForm.Get("agent")
	made, err := v.hub.AddAgent(v.r.Context(), v.caller, name)
	if e := ma2h.AsError(err); name == suggestedAgent && e != nil && e.Code == ma2h.CodeInvalidField {
		made, err = v.hub.RotateAgent(v.r.Context(), v.caller, name)
	}
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeInvalidField {
		return v.showList(e.Status(), tryView{Name: name, Wrong: v.words.html("wrong.is", e.Message)})
	}
	if err != nil {
		return err
	}
	return v.showList(http.StatusOK, v.tried(made))
}

func (v *visit) tried(made *hub.NewCredentials) tryView {
	s := v.snippet(made)
	return tryView{Name: suggestedAgent, Agent: clean(made.ID), Snippet: &s}
}
