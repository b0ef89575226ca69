package hub

import "github.com/mash-hub/mash/pkg/record"

// session holds a session to its key, its lists and its due time.
func (i *Inspection) session(r record.Record) error {
	var s Session
	if err := i.reads(r, &s); err != nil {
		return err
	}
	key, ok := SessionKey(s.ID)
	if !ok {
		i.flaw(AspectRecords, r.Key, "its id is none of a session")
		return nil
	}
	i.lies(r, key)
	i.refers(r, s.Account)
	if !i.agents[s.AgentRef] {
		i.flaw(AspectReferences, r.Key, "the agent whose session it is is not there")
	}
	i.listed(r, i.hub.sessionRecord(&s, r.Due).Tags)
	if r.Due.IsZero() {
		i.flaw(AspectDue, r.Key, "it never falls due, and a session has an end")
	}
	return nil
}

// row holds an entry of a mailbox to what says that it is there. Responses and receipts stand for themselves.
func (i *Inspection) row(r record.Record) error {
	var row Row
	if err := i.reads(r, &row); err != nil {
		return err
	}
	if _, waited := i.mail[r.Key]; !waited && (row.Kind == EntryDirective || row.Kind == EntryMessage) {
		i.flaw(AspectReferences, r.Key, "nothing is on its way by this entry")
	}
	delete(i.mail, r.Key)
	return nil
}

// limited holds what is kept of a pair's limit to its key.
func (i *Inspection) limited(r record.Record) error {
	var p PairLimit
	if err := i.reads(r, &p); err != nil {
		return err
	}
	i.lies(r, limitedKey(p.FromRef, p.ToRef))
	if !i.agents[p.FromRef] {
		i.flaw(AspectReferences, r.Key, "the agent that was limited is not there")
	}
	return nil
}
