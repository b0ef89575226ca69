package ma2h

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DeliveredForm is an addressed envelope as its addressee gets it (spec §8.7.1): with the message's id and the attested
// address of the sender, and without what is the sender's alone. The envelope is one that a hub accepted, so that its
// agent and session are the sender's own.
func DeliveredForm(envelope jsontext.Value, id string) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	var sender struct {
		Agent struct {
			ID      string `json:"id"`
			Session string `json:"session"`
		} `json:"agent"`
	}
	if json.Unmarshal(envelope, &members) != nil || json.Unmarshal(envelope, &sender) != nil {
		return nil, fmt.Errorf("the envelope of %s does not decode", id) // the error itself may quote it
	}
	delete(members, "state")
	delete(members, "client_ref")
	for _, block := range []string{"request", "action"} {
		if err := without(members, block, "callback"); err != nil {
			return nil, fmt.Errorf("the %s of %s does not decode", block, id)
		}
	}
	from := Address{AgentID: sender.Agent.ID, Session: sender.Agent.Session}
	for name, value := range map[string]string{"id": id, "from": from.String()} {
		quoted, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		members[name] = quoted
	}
	return json.Marshal(members, json.Deterministic(true))
}

// without takes a member out of the object under name, where both are there.
func without(members map[string]jsontext.Value, name, member string) error {
	if _, ok := members[name]; !ok {
		return nil
	}
	var inner map[string]jsontext.Value
	if err := json.Unmarshal(members[name], &inner); err != nil {
		return err
	}
	if _, ok := inner[member]; !ok {
		return nil
	}
	delete(inner, member)
	var err error
	members[name], err = json.Marshal(inner, json.Deterministic(true))
	return err
}
