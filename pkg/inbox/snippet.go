package inbox

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// snippet is what an agent needs to ask for the first time, and three ways to ask and wait for the answer, each of which
// runs as it is pasted, with the token in it.
type snippet struct {
	Env, Mash, Curl, Go string
}

func (v *visit) snippet(made *hub.NewCredentials) snippet {
	env := fmt.Sprintf("export MASH_URL=%s\nexport MASH_TOKEN=%s", shellQuote(v.hub.Settings.BaseURL), shellQuote(made.Token))
	shell := env + "\n"
	if made.PushSecret != "" {
		env += "\nexport MASH_PUSH_SECRET=" + shellQuote(made.PushSecret)
	}
	title := v.words.plain("snippet.question")
	return snippet{
		Env:  env,
		Mash: shell + v.in.config.command("ask ") + shellQuote(title),
		Curl: shell + v.curlSnippet(made, title),
		Go:   fmt.Sprintf(goSnippet, v.hub.Settings.BaseURL, made.Token, title),
	}
}

// curlSnippet asks with curl alone, waits, and prints the answer. The key of the message is fresh, so that what is pasted twice asks once.
func (v *visit) curlSnippet(made *hub.NewCredentials, title string) string {
	key := "key_" + ma2h.NewTail()
	body, err := json.Marshal(ma2h.Message{
		Version: ma2h.Newest, Type: ma2h.TypeAsk, CreatedAt: ma2h.FormatTime(v.clock.now.Truncate(time.Second)),
		Agent: ma2h.Agent{ID: made.ID, RunID: "run_1"}, Title: title, IdempotencyKey: &key,
		Request: &ma2h.Request{Mode: ma2h.ModeConfirm, AllowedResolvers: []string{v.caller.Actor()}},
	}, jsontext.WithIndent("  "))
	if err != nil {
		panic(err) // a bug: all of it is ours
	}
	return `ask=$(curl -sS "$MASH_URL/v1/messages" \
  -H "Authorization: Bearer $MASH_TOKEN" \
  -H 'Content-Type: application/json' \
  -d ` + shellQuote(string(body)) + `); echo "$ask"
id=$(echo "$ask" | grep -o 'msg_[0-9a-z]*' | head -n 1)
while answer=$(curl -sS "$MASH_URL/v1/messages/$id?wait=30" \
  -H "Authorization: Bearer $MASH_TOKEN"); echo "$answer" | grep -q '"status":"open"'; do sleep 0.1; done
echo "$answer" | grep -o '"value":"[^"]*"'`
}

// goSnippet is a whole program, but for go mod init and go get.
const goSnippet = `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func main() {
	ctx := context.Background()
	c := client.New(%q, %q)
	ack, err := c.Ask(ctx, ma2h.Message{
		Title:   %q,
		Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := c.Wait(ctx, ack.ID)
	if err != nil {
		log.Fatal(err)
	}
	value, answered := client.Choice(response)
	fmt.Println(answered, value)
}
`
