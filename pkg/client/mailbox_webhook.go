package client

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// Receive reads and checks a directive that the hub has pushed to the agent's webhook (spec §8.7), as Drain does what it takes.
// Act once for it, as Acted does, whether it came here or by a drain, and Ack it: until then it stays in the mailbox. Answer 2xx when it is
// taken.
//
// ErrUnread and ErrNoKeys, and that the hub could not be asked whose the credential is, say nothing about the push: answer 503,
// and the hub sends it again. The other errors are those of Drained.Refused and ErrTooLarge: answer each with a 4xx and act on
// nothing.
func (b *Mailbox) Receive(r *http.Request) (*DirectiveEntry, error) {
	body, header, err := readSigned(r)
	if err != nil {
		return nil, err
	}
	me, err := b.addressee(r.Context())
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(signature.Line(header))
	if err != nil {
		return nil, err
	}
	me = ma2h.Address{AgentID: me.AgentID} // what is for a session is never pushed
	e, err := b.verify(r.Context(), me, map[string]jsontext.Value{string(KindDirective): body, "signature": line})
	if err != nil {
		return nil, err
	}
	directive, ok := e.(*DirectiveEntry)
	if !ok {
		return nil, fmt.Errorf("read the directive: %w", ErrMisshapen)
	}
	return directive, nil
}
