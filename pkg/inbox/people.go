package inbox

import (
	"html/template"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// who names an attested actor as the visitor would: themselves as "you", other people by their id, agents as agents.
func (v *visit) who(actor string) template.HTML {
	switch {
	case actor == v.caller.Actor():
		return v.words.html("who.you")
	case strings.HasPrefix(actor, ma2h.HumanPrefix):
		return v.words.html("who.person", clean(strings.TrimPrefix(actor, ma2h.HumanPrefix)))
	case strings.HasPrefix(actor, ma2h.AgentPrefix):
		return v.words.html("who.agent", clean(strings.TrimPrefix(actor, ma2h.AgentPrefix)))
	}
	return v.words.html("who.system")
}

// nameOf is the name of a person without what stands before the colon.
func (v *visit) nameOf(actor string) theirs {
	return clean(strings.TrimPrefix(actor, ma2h.HumanPrefix))
}

// meet finds out who of some resolvers is nobody of the account, for mayAnswer.
func (v *visit) meet(resolvers []string) error {
	strangers, err := v.hub.Strangers(v.r.Context(), v.caller, resolvers)
	for _, r := range strangers {
		if !slices.Contains(v.strangers, r) {
			v.strangers = append(v.strangers, r)
		}
	}
	return err
}

// strange says whether all who may answer a message are nobody of the account.
func (v *visit) strange(s *hub.Summary) bool {
	known := func(r string) bool { return !slices.Contains(v.strangers, r) }
	return len(s.Resolvers) > 0 && !slices.ContainsFunc(s.Resolvers, known)
}

// mayAnswer says who may answer a message, and who of them is nobody that the account has.
func (v *visit) mayAnswer(s *hub.Summary) template.HTML {
	var strangers []template.HTML
	for _, r := range s.Resolvers {
		if slices.Contains(v.strangers, r) {
			strangers = append(strangers, v.who(r))
		}
	}
	says := v.resolvers(s)
	if len(strangers) > 0 {
		says += " " + v.words.html("may.stranger", v.words.join(strangers))
	}
	return says
}

// resolvers says who may answer a message, in a sentence.
func (v *visit) resolvers(s *hub.Summary) template.HTML {
	if len(s.Resolvers) == 0 {
		return v.words.html("may.nobody")
	}
	var others []template.HTML
	for _, r := range s.Resolvers {
		if r != v.caller.Actor() {
			others = append(others, v.who(r))
		}
	}
	switch {
	case !s.MayResolve:
		return v.words.html("may.others", v.words.join(others), clean(v.caller.Person.ID))
	case len(others) == 0:
		return v.words.html("may.you")
	}
	return v.words.html("may.you.too", v.words.join(others))
}

// run names a run by what the agent says.
type run struct {
	Short template.HTML
	Full  theirs
}

// maxRun is how many characters of a run's name are shown beside an agent's.
const maxRun = 12

// runOf names the run with this id, which mostly begins with the word already.
func (v *visit) runOf(id string) run {
	full := clean(id)
	short := full.short(maxRun + 1) // with the ellipsis
	if strings.HasPrefix(strings.ToLower(id), "run") {
		return run{Short: v.words.html("run.itself", short), Full: full}
	}
	return run{Short: v.words.html("run", short), Full: full}
}

// nobody says whether no person and no agent but the sender may answer a message.
func nobody(s *hub.Summary) bool { return s.Type != ma2h.TypeNotify && len(s.Resolvers) == 0 }
