package ma2h

import (
	"fmt"
	"maps"
	"slices"

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
	callback := func(name string) bool { return name == "callback" }
	for block, private := range map[string]func(string) bool{"request": callback, "action": callback, "agent": unknownOfAgent} {
		if err := without(members, block, private); err != nil {
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

// unknownOfAgent says whether this is no member of an agent descriptor. What a hub does not know it passes on to nobody
// (spec §10).
func unknownOfAgent(name string) bool {
	return !slices.ContainsFunc(agentForm.members, func(m member) bool { return m.name == name })
}

// without takes members out of the object under name, where it is there.
func without(members map[string]jsontext.Value, name string, which func(string) bool) error {
	if _, ok := members[name]; !ok {
		return nil
	}
	var inner map[string]jsontext.Value
	if err := json.Unmarshal(members[name], &inner); err != nil {
		return err
	}
	all := len(inner)
	maps.DeleteFunc(inner, func(member string, _ jsontext.Value) bool { return which(member) })
	if len(inner) == all {
		return nil
	}
	var err error
	members[name], err = json.Marshal(inner, json.Deterministic(true))
	return err
}
