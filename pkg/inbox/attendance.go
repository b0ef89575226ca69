package inbox

import (
	"html/template"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// maxEndedSessions is how many sessions of an agent that have ended its page shows.
const maxEndedSessions = 10

// attendanceView is whether an agent is there.
type attendanceView struct {
	Says    template.HTML
	Online  bool
	Stopped *stoppedView // nil unless a person has stopped it
	Stop    bool         // there is something to stop
	Live    []sessionLine
	Ended   []sessionLine
}

// stoppedView is the stop that is in force.
type stoppedView struct {
	Says   template.HTML // by whom and when
	Reason theirs        // or empty
	Still  template.HTML // how many sessions live all the same, or empty
}

// sessionLine is one session of an agent.
type sessionLine struct {
	ID     string
	Label  theirs // what the agent calls it
	About  template.HTML
	Claims []pair // what else the agent says of it
}

func (v *visit) attendance(agentID string) (*attendanceView, error) {
	a, err := v.hub.Attendance(v.r.Context(), v.caller, agentID, maxEndedSessions)
	if err != nil {
		return nil, err
	}
	view := &attendanceView{Online: a.Online, Says: v.presence(a), Stop: a.Stop == nil || len(a.Live) > 0}
	for _, s := range a.Live {
		line := v.sessionLine(&s)
		line.About = v.words.html("session.lives", v.clock.ago(s.CreatedAt), v.clock.ago(s.LastSeen), v.clock.left(s.ExpiresAt))
		view.Live = append(view.Live, line)
	}
	for _, s := range a.Ended {
		line := v.sessionLine(&s)
		line.About = v.words.html("session.over", v.howEnded(&s), v.clock.ago(s.ClosedAt), v.clock.ago(s.CreatedAt))
		view.Ended = append(view.Ended, line)
	}
	if a.Stop != nil {
		view.Stopped = &stoppedView{Says: v.words.html("stopped.by", v.who(a.Stop.By), v.clock.at(a.Stop.At), v.clock.ago(a.Stop.At))}
		view.Stopped.Reason = clean(a.Stop.Reason)
		if n := len(a.Live); n > 0 {
			view.Stopped.Still = v.words.counted("stopped.still", n)
		}
	}
	return view, nil
}

// presence says whether an agent can be reached.
func (v *visit) presence(a *hub.Attendance) template.HTML {
	switch {
	case a.Online:
		return v.words.html("presence.online", v.clock.ago(a.LastSeen))
	case !a.LastSeen.IsZero():
		return v.words.html("presence.offline", v.clock.ago(a.LastSeen))
	}
	return v.words.html("presence.unknown")
}

func (v *visit) sessionLine(s *hub.Session) sessionLine {
	line := sessionLine{ID: s.ID, Label: clean(s.Label).short(maxLabel).or(v.words.plain("session.unlabelled"))}
	add := func(name, value string) {
		if value != "" {
			line.Claims = append(line.Claims, pair{clean(name), &data{Kind: "text", Text: clean(value).short(maxLabel)}})
		}
	}
	add(v.words.plain("claim.run"), s.RunID)
	add(v.words.plain("claim.kind"), s.Kind)
	add(v.words.plain("claim.project"), s.Project)
	return line
}

// howEnded says what ended a session.
func (v *visit) howEnded(s *hub.Session) template.HTML {
	switch {
	case s.State == ma2h.SessionExpired:
		return v.words.html("session.lapsed")
	case s.ByOperator:
		return v.words.html("session.closed.by", v.who(s.ClosedBy))
	}
	return v.words.html("session.closed")
}
