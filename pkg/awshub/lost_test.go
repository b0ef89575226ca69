package awshub_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
)

// lossy counts what is asked of it.
type lossy struct {
	*httptest.Server
	asked atomic.Int64
}

// losing is AWS behind a proxy that loses some of the answers: what was asked for is done, and nobody hears of it.
func losing(t *testing.T, loses func(n int64) bool) *lossy {
	t.Helper()
	to, err := url.Parse(os.Getenv("MASH_DYNAMO_ENDPOINT"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	over := make(chan struct{})
	aws := &lossy{}
	aws.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loses(aws.asked.Add(1)) {
			proxy.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(aws.Close)
	t.Cleanup(func() { close(over) })
	return aws
}

func TestALostAnswerOfAWSCostsSecondsAndLosesNothing(t *testing.T) {
	s := deploy(t)
	bot := s.bot()
	aws := losing(t, func(n int64) bool { return n == 4 }) // the write, after the keys and one read
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": aws.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"MASH_TABLE": s.config.Table, "MASH_BASE_URL": s.config.BaseURL, "MASH_KMS_KEY": s.config.Key,
		"MASH_SETTINGS": `{"inbox_depth":0}`,
	} {
		t.Setenv(name, value)
	}
	s.config = awshub.FromEnv()
	submit := s.function(endpoint.Submit)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	event, err := json.Marshal(events.APIGatewayV2HTTPRequest{
		RawPath: "/v1/messages", Headers: map[string]string{"authorization": "Bearer " + bot},
		Body:           string(hub.Encode(ask("k", confirm, time.Time{}))),
		RequestContext: events.APIGatewayV2HTTPRequestContext{HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "POST"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := submit.Invoke(ctx, event)
	if err != nil || !strings.Contains(string(answer), `"statusCode":202`) {
		t.Fatalf("submit = %s, %v, want 202", answer, err)
	}
	if aws.asked.Load() < 5 {
		t.Errorf("%d requests went to AWS; the write was not lost", aws.asked.Load())
	}
}
