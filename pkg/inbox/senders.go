package inbox

import (
	"html/template"
	"net/http"
	"slices"

	"github.com/mash-hub/mash/pkg/hub"
)

// Who may write to an agent, as its page offers it.
const (
	sendersAll  = "all"
	sendersNone = "none"
	sendersSome = "some"
)

// sendersView is which agents may write to one (spec §8.0).
type sendersView struct {
	Ref   string
	On    bool // agents of the account may write to each other at all
	Owns  bool
	Who   string // all, none or some
	Says  template.HTML
	Picks []senderPick
	Wrong template.HTML
}

// senderPick is an agent that may be on the list, or is.
type senderPick struct {
	Raw    string
	ID     theirs
	About  template.HTML // that it is nobody of the account, or revoked; else empty
	Picked bool
}

// senders says who may write to the agent, and offers every other agent of the account and whoever is on the list already.
func (v *visit) senders(a *hub.AgentDetail) (*sendersView, error) {
	agents, err := v.hub.Agents(v.r.Context(), v.caller)
	if err != nil {
		return nil, err
	}
	view := &sendersView{Ref: v.r.PathValue("ref"), On: v.caller.Account.InterAgent, Owns: v.caller.Owns(), Who: sendersAll}
	var list []string
	if a.Senders != nil {
		list, view.Who = *a.Senders, sendersSome
	}
	known := map[string]bool{}
	for _, other := range agents {
		known[other.ID] = true
		pick := senderPick{Raw: other.ID, ID: clean(other.ID), Picked: slices.Contains(list, other.ID)}
		if other.Revoked {
			pick.About = v.words.html("senders.revoked")
		}
		if pick.Picked || !other.Revoked && other.ID != a.ID {
			view.Picks = append(view.Picks, pick)
		}
	}
	for _, id := range list {
		if !known[id] {
			view.Picks = append(view.Picks, senderPick{id, clean(id).short(maxLabel), v.words.html("senders.nobody"), true})
		}
	}
	switch {
	case view.Who == sendersAll:
		view.Says = v.words.html("senders.all.is")
	case len(list) == 0:
		view.Who, view.Says = sendersNone, v.words.html("senders.none.is")
	default:
		view.Says = v.words.counted("senders.some.is", len(list))
	}
	return view, nil
}

// setSenders decides which agents may write to one.
func (v *visit) setSenders() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	var list *[]string
	switch v.r.PostForm.Get("may") {
	case sendersSome:
		picked := v.r.PostForm["sender"]
		list = &picked
	case sendersNone:
		list = &[]string{}
	case sendersAll:
	default: // none was chosen
		return v.done("asis")
	}
	if err := v.hub.SetAllowlist(v.r.Context(), v.caller, id, list); err != nil {
		return v.wrong(err, func(view *agentView, _ string, why template.HTML) { view.Senders.Wrong = why })
	}
	return v.done("senders")
}

// setInterAgent is an owner's word whether agents of the account may write to each other (spec §8.0).
func (v *visit) setInterAgent() error {
	on := v.r.PostForm.Get("on") == "1"
	if err := v.hub.SetInterAgent(v.r.Context(), v.caller, on); err != nil {
		return err
	}
	did := "off"
	if on {
		did = "on"
	}
	http.Redirect(v.w, v.r, "/settings?mail="+did, http.StatusSeeOther)
	return nil
}
