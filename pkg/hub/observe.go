package hub

import "github.com/mash-hub/mash/pkg/ma2h"

// Event is something that has been committed about a message, in words of which there are few: nothing that an agent or a
// person wrote is among them.
type Event struct {
	Type   ma2h.Type
	Status ma2h.Status // open when it was just accepted and waits; else how it has ended, delivered for a notify
	Fresh  bool        // whether it was just accepted
}

// observe tells whoever counts.
func (h *Hub) observe(s *State, fresh bool) {
	if h.Observe != nil {
		h.Observe(Event{Type: s.Type, Status: s.Status, Fresh: fresh})
	}
}
