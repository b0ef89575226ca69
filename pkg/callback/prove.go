package callback

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/mash-hub/mash/pkg/hub"
)

// The limits of a look at a host.
const (
	proofTimeout = 8 * time.Second
	maxProof     = 16 << 10 // bytes of the file, of which no more are read
)

const refuseHostForm Refusal = "This is no host; write its name alone, such as callback.example or callback.example:8443."

// Host returns the one form of a host that a person names: in small letters, an international name as DNS has it, the port
// only where it is not 443. The error is a Refusal.
func (p *Pusher) Host(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	if len(typed) > maxURL || strings.ContainsAny(typed, "/\\@?#% \t\r\n") {
		return "", refuseHostForm
	}
	ascii, err := toASCII(typed)
	if err != nil {
		return "", refuseHost
	}
	u, err := url.Parse("https://" + ascii + "/")
	if err != nil || u.Host == "" {
		return "", refuseHostForm
	}
	if err := p.Check(u.String()); err != nil {
		return "", err
	}
	host, _ := hub.HostOf(u.String())
	return host, nil
}

// toASCII writes an international name as DNS has it. Dots of other scripts are no dots: what looks like one name and is
// another is nobody's.
func toASCII(host string) (string, error) {
	if strings.IndexFunc(host, func(r rune) bool { return r > '~' }) < 0 {
		return host, nil
	}
	if strings.ContainsAny(host, "。．｡") {
		return "", errors.New("a dot of another script")
	}
	name, port, hasPort := strings.Cut(host, ":")
	name, err := idna.Lookup.ToASCII(name)
	if hasPort {
		name += ":" + port
	}
	return name, err
}

// Prove looks once whether a host shows a line.
func (p *Pusher) Prove(ctx context.Context, host string, proof hub.Proof, line string) hub.Proven {
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	switch proof {
	case hub.ProofWellKnown:
		return p.serves(ctx, host, line)
	case hub.ProofDNS:
		return p.records(ctx, host, line)
	}
	return hub.Proven{Failure: hub.FailureRefused}
}

// serves looks at the file of a host. Where the operator has allowed the host by name, plain HTTP will do.
func (p *Pusher) serves(ctx context.Context, host, line string) hub.Proven {
	got := p.servesAt(ctx, "https://"+host+hub.WellKnownPath, line)
	if plain := "http://" + host + hub.WellKnownPath; got.Status == 0 && p.Vouched(plain) {
		return p.servesAt(ctx, plain, line)
	}
	return got
}

func (p *Pusher) servesAt(ctx context.Context, at, line string) hub.Proven {
	client, err := p.clientFor(at)
	if err != nil {
		return hub.Proven{Failure: hub.FailureRefused}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return hub.Proven{Failure: hub.FailureRefused}
	}
	req.Header.Set("User-Agent", "mash")
	resp, err := client.Do(req)
	if err != nil {
		return hub.Proven{Failure: failureOf(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return hub.Proven{Status: resp.StatusCode}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProof+1))
	if err != nil {
		return hub.Proven{Failure: failureOf(err)}
	}
	return hub.Proven{Status: resp.StatusCode, Shown: hasLine(body, line)}
}

// hasLine says whether a file has a line that is this one, blanks around it apart. Of a file that is too long only the whole
// lines of its beginning count.
func hasLine(file []byte, line string) bool {
	if len(file) > maxProof {
		file = file[:bytes.LastIndexByte(file[:maxProof], '\n')+1]
	}
	for l := range bytes.Lines(file) {
		if line != "" && string(bytes.TrimSpace(l)) == line {
			return true
		}
	}
	return false
}

// records looks at the TXT records of a host.
func (p *Pusher) records(ctx context.Context, host, line string) hub.Proven {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return hub.Proven{Failure: hub.FailureRefused}
	}
	texts, err := p.resolver.LookupTXT(ctx, hub.DNSLabel+name+".")
	if err != nil {
		return hub.Proven{Failure: failureOf(err)}
	}
	for _, text := range texts {
		if line != "" && strings.TrimSpace(text) == line {
			return hub.Proven{Shown: true}
		}
	}
	return hub.Proven{}
}
