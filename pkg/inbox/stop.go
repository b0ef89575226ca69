package inbox

import (
	"html/template"
	"net/http"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// stopRoutes are the stop of an agent and the close of one of its sessions (spec §16.4), which every person of the account may
// do. Each asks first and says what will happen.
func stopRoutes() []route {
	return []route{
		{http.MethodGet, "/agents/{ref}/stop", (*visit).askStop, false},
		{http.MethodPost, "/agents/{ref}/stop", (*visit).stopAgent, false},
		{http.MethodPost, "/agents/{ref}/lift", (*visit).liftStop, false},
		{http.MethodGet, "/agents/{ref}/sessions/{session}/close", (*visit).askClose, false},
		{http.MethodPost, "/agents/{ref}/sessions/{session}/close", (*visit).closeSession, false},
	}
}

// stopView asks whether an agent is to be stopped, or one session to be closed.
type stopView struct {
	Ref     string
	ID      theirs
	Session *sessionLine // the one to close; nil to stop the agent
	Effects []template.HTML
	Holds   bool // a stop holds until it is lifted, so that it can have a reason
	Reason  string
	Wrong   template.HTML
}

func (v *visit) askStop() error { return v.showStop(http.StatusOK, "", "") }

func (v *visit) showStop(status int, reason string, wrong template.HTML) error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	a, err := v.hub.Attendance(v.r.Context(), v.caller, id, 0)
	if err != nil {
		return err
	}
	view := stopView{Ref: v.r.PathValue("ref"), ID: clean(id), Reason: reason, Wrong: wrong}
	view.Effects = append(view.Effects, v.words.html("stop.sessions.none"))
	if n := len(a.Live); n > 0 {
		view.Effects = []template.HTML{v.words.counted("stop.sessions", n), v.words.html("stop.mail")}
	}
	switch {
	case a.Stop != nil:
		view.Effects = append(view.Effects, v.words.html("stop.already"))
	case v.hub.Settings.HardStop:
		view.Holds = true
		view.Effects = append(view.Effects, v.words.html("stop.gate"))
	default:
		view.Effects = append(view.Effects, v.words.html("stop.gate.none"))
	}
	view.Effects = append(view.Effects, v.words.html("stop.token"))
	v.render(status, "stop", v.page("agent", v.words.plain("stop.title"), view))
	return nil
}

func (v *visit) stopAgent() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	reason := v.r.PostForm.Get("reason")
	err = v.hub.StopAgent(v.r.Context(), v.caller, id, reason)
	if e := ma2h.AsError(err); e != nil && e.Field == "/reason" {
		return v.showStop(e.Status(), reason, v.words.html("wrong.is", e.Message))
	}
	if err != nil {
		return err
	}
	return v.done("stopped")
}

func (v *visit) liftStop() error {
	id, err := v.ownAgent()
	if err == nil {
		err = v.hub.LiftStop(v.r.Context(), v.caller, id)
	}
	if err != nil {
		return err
	}
	return v.done("lifted")
}

// ownSession is the session that the path names, of the agent that it names.
func (v *visit) ownSession() (agentID string, _ *hub.Session, _ *hub.Attendance, _ error) {
	agentID, err := v.ownAgent()
	if err != nil {
		return "", nil, nil, err
	}
	a, err := v.hub.Attendance(v.r.Context(), v.caller, agentID, maxEndedSessions)
	if err != nil {
		return "", nil, nil, err
	}
	for _, list := range [][]hub.Session{a.Live, a.Ended} {
		for _, s := range list {
			if s.ID == v.r.PathValue("session") {
				return agentID, &s, a, nil
			}
		}
	}
	return "", nil, nil, ma2h.Errorf(ma2h.CodeNotFound, "The agent has no session with this id.")
}

func (v *visit) askClose() error {
	id, s, a, err := v.ownSession()
	if err != nil {
		return err
	}
	if s.State != ma2h.SessionActive {
		return v.done("over")
	}
	line := v.sessionLine(s)
	line.About = v.words.html("session.lives", v.clock.ago(s.CreatedAt), v.clock.ago(s.LastSeen), v.clock.left(s.ExpiresAt))
	view := stopView{Ref: v.r.PathValue("ref"), ID: clean(id), Session: &line}
	view.Effects = []template.HTML{v.words.html("close.session"), v.words.html("close.mail")}
	if v.hub.Settings.HardStop && a.Stop == nil {
		view.Effects = append(view.Effects, v.words.html("close.stops"))
	}
	if n := len(a.Live) - 1; n > 0 {
		view.Effects = append(view.Effects, v.words.counted("close.others", n))
	}
	v.render(http.StatusOK, "stop", v.page("agent", v.words.plain("close.title"), view))
	return nil
}

func (v *visit) closeSession() error {
	_, s, _, err := v.ownSession()
	if err != nil {
		return err
	}
	if s.State != ma2h.SessionActive {
		return v.done("over")
	}
	if _, err := v.hub.CloseSession(v.r.Context(), v.caller, s.ID); err != nil {
		return err
	}
	return v.done("closed")
}
