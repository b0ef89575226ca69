package lambdahttp

import (
	"net"
	"net/http"
	"net/url"

	"github.com/aws/aws-lambda-go/events"
)

// withoutAddress is what the library may convert: method, body, cookies and context. It parses path and query as one text,
// so that a decoded # or ? would cut the path and a lone % be an error, and it splits every header at its commas, those
// of signatures and quoted strings included. It also prints the path of what it cannot convert, which may be a link that
// signs somebody in.
func withoutAddress(event events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPRequest {
	event.RawPath, event.RawQueryString, event.QueryStringParameters, event.Headers = "/", "", nil, nil
	event.RequestContext.HTTP.Path = ""
	return event
}

// mend gives a request what withoutAddress has taken from its event.
func mend(r *http.Request, event *events.APIGatewayV2HTTPRequest) {
	r.URL = address(event)
	r.RequestURI = r.URL.RequestURI()
	r.Host = event.RequestContext.DomainName
	for name, value := range event.Headers { // repeated ones come joined by commas
		switch http.CanonicalHeaderKey(name) {
		case "Host":
			r.Host = value
		case "Cookie":
			if len(event.Cookies) == 0 {
				r.Header.Set(name, value)
			}
		default:
			r.Header.Set(name, value)
		}
	}
	// As net/http has it: host and port, of which the event has only one.
	r.RemoteAddr = net.JoinHostPort(event.RequestContext.HTTP.SourceIP, "0")
}

// address returns the URL of a request, path and query alone as on a server.
//
// A function URL hands over the path as it was sent. An HTTP API hands it over decoded, all but %25, which it leaves; so
// decoding it once is right for both, and where nothing of the encoding is left URL makes it anew. What no one can know
// again is whether a slash was sent as %2F: an HTTP API has lost it.
func address(event *events.APIGatewayV2HTTPRequest) *url.URL {
	u := &url.URL{RawQuery: event.RawQueryString}
	decoded, err := url.PathUnescape(event.RawPath)
	if err != nil { // not encoded by anybody: as it stands
		u.Path = event.RawPath
		return u
	}
	u.Path, u.RawPath = decoded, event.RawPath
	return u
}
