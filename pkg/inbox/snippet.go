package inbox

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// snippet is what an agent needs to ask for the first time, ready to be pasted, with its token in it.
type snippet struct {
	Env, Mash, Curl, Go string
}

func (v *visit) snippet(made *hub.NewCredentials) snippet {
	env := fmt.Sprintf("export MASH_URL=%s\nexport MASH_TOKEN=%s", shellQuote(v.hub.Settings.BaseURL), shellQuote(made.Token))
	if made.PushSecret != "" {
		env += "\nexport MASH_PUSH_SECRET=" + shellQuote(made.PushSecret)
	}
	title := v.words.plain("snippet.question")
	return snippet{
		Env: env, Mash: v.in.config.command("ask ") + shellQuote(title),
		Curl: v.curlSnippet(made, title), Go: fmt.Sprintf(goSnippet, title),
	}
}

// curlSnippet asks with curl alone. The key of the message is fresh, so that what is pasted twice asks once.
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
	return `curl -sS "$MASH_URL/v1/messages" \
  -H "Authorization: Bearer $MASH_TOKEN" \
  -H 'Content-Type: application/json' \
  -d ` + shellQuote(string(body))
}

// goSnippet is a whole program, but for go mod init and go get.
const goSnippet = `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func main() {
	ctx := context.Background()
	c := client.New(os.Getenv("MASH_URL"), os.Getenv("MASH_TOKEN"))
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
