// Package lambdahttp serves an http.Handler inside a Lambda function: events of an API Gateway HTTP API or of a function
// URL (payload format 2.0) become requests, and what the handler writes becomes the answer.
//
// The conversion is that of aws-lambda-go-api-proxy, mended where it would change what was sent; see request and answer.
package lambdahttp

import (
	"context"
	"log/slog"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Start serves h for as long as the function lives. It takes both results of what makes a handler: with an error, which
// it logs, the function ends before its first event, and Lambda starts it anew.
func Start(h http.Handler, err error) {
	orExit(err)
	lambda.Start(Handler(h))
}

// StartWorker runs work for every event, whatever the event says; for a function that no request comes to. What work
// returns is the answer. The error is as in Start.
func StartWorker[Done any](work func(context.Context) (Done, error), err error) {
	orExit(err)
	lambda.Start(work)
}

// StartEventWorker runs work for every event, which it is handed. Otherwise it is StartWorker.
func StartEventWorker[Event, Done any](work func(context.Context, Event) (Done, error), err error) {
	orExit(err)
	lambda.Start(work)
}

func orExit(err error) {
	if err != nil {
		slog.Error("the function cannot start", "err", err)
		os.Exit(1)
	}
}

// Handler returns h as a handler of events. The context of a request is that of the event, with the function's deadline.
// An event that is no request at all, such as one whose body is broken base64, is an error, which the gateway answers
// with 500. So it does for a panic, after which Lambda starts the function anew.
func Handler(h http.Handler) func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		adapter := httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mend(r, &event)
			a := &answer{to: w, header: http.Header{}, bare: r.Method == http.MethodHead}
			h.ServeHTTP(a, r)
			a.WriteHeader(http.StatusOK) // unless there is another one
		}))
		return adapter.ProxyWithContext(ctx, withoutAddress(event))
	}
}
