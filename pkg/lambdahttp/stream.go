package lambdahttp

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdaurl"
)

// StartStream is Start for a function whose answers are read while they are written: behind a function URL whose invoke mode
// is RESPONSE_STREAM, and nothing else.
func StartStream(h http.Handler, err error) {
	orExit(err)
	lambda.Start(StreamHandler(h))
}

// StreamHandler is Handler for such a function. What the handler writes is on its way at once, and a write waits until there
// is room for it.
func StreamHandler(
	h http.Handler,
) func(context.Context, events.APIGatewayV2HTTPRequest) (*events.LambdaFunctionURLStreamingResponse, error) {
	return func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (*events.LambdaFunctionURLStreamingResponse, error) {
		bare := withoutAddress(event)
		return lambdaurl.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mend(r, &event)
			a := &answer{to: w, header: http.Header{}, bare: r.Method == http.MethodHead}
			h.ServeHTTP(a, r)
			a.WriteHeader(http.StatusOK) // unless there is another one
		}))(ctx, &events.LambdaFunctionURLRequest{
			RawPath: bare.RawPath, Body: bare.Body, IsBase64Encoded: bare.IsBase64Encoded,
			RequestContext: events.LambdaFunctionURLRequestContext{
				DomainName: "url", HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
					Method: bare.RequestContext.HTTP.Method, SourceIP: bare.RequestContext.HTTP.SourceIP,
				},
			},
		})
	}
}
