package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// CallbackHost is a host that is known to be an agent's own, so that a credential of the agent may go there (spec §9.4).
type CallbackHost struct {
	Host  string    `json:"host"` // as Prover.Host writes it
	Proof Proof     `json:"proof"`
	At    time.Time `json:"at"`
	By    string    `json:"by"` // the actor who bound it
}

// Proof is how it is known that a host is an agent's own.
type Proof string

// The proofs of a host.
const (
	ProofWellKnown Proof = "well-known" // the host serves the agent's challenge at WellKnownPath
	ProofDNS       Proof = "dns"        // a TXT record of DNSLabel and the host holds it
	ProofPerson    Proof = "person"     // a person says so
)

// Where a host shows the challenge of an agent: a line of a file, or a TXT record.
const (
	WellKnownPath = "/.well-known/mash-callback"
	DNSLabel      = "_mash-callback."
)

// maxHosts is how many hosts an agent may have.
const maxHosts = 50

// Challenge is the line that a host shows as a proof that it is the agent's with this ref. It is the same for ever, and no
// secret: only who has a say over the host can put it there, and only who has one over the agent can bind the host.
func (h *Hub) Challenge(agentRef string) string {
	sum := h.Keys.Hash("callback-challenge", agentRef)
	return "mash-callback=" + ma2h.Tail(sum[:])
}

// BindHost notes that a host is the agent's own. For ProofWellKnown and ProofDNS it looks now whether the host shows the
// agent's Challenge; what ProofPerson says, the person vouches for. A host that is bound already gets the newer proof.
func (h *Hub) BindHost(ctx context.Context, c *Caller, id, host string, proof Proof) (*CallbackHost, error) {
	if err := ownerOnly(c); err != nil {
		return nil, err
	}
	name, err := h.prover().Host(host)
	if err != nil {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/host", "%s", err.Error())
	}
	bound := CallbackHost{Host: name, Proof: proof, By: c.Actor()}
	a, err := h.ownAgent(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if err := h.prove(ctx, a, &bound); err != nil {
		return nil, err
	}
	bound.At = h.now()
	err = h.changeOwn(ctx, c, id, "host_bind", func(a *Agent) (bool, error) {
		if a.Revoked {
			return false, errRevoked()
		}
		hosts := slices.DeleteFunc(slices.Clone(a.Hosts), func(b CallbackHost) bool { return b.Host == name })
		if len(hosts) >= maxHosts {
			return false, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/host", "The agent has %d hosts, which is the limit; remove one.", maxHosts)
		}
		a.Hosts = append(hosts, bound)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return &bound, nil
}

func (h *Hub) prove(ctx context.Context, a *Agent, b *CallbackHost) error {
	challenge := h.Challenge(a.Ref)
	var why string
	switch b.Proof {
	case ProofPerson:
		return nil
	case ProofWellKnown:
		why = notServed(b.Host, h.prover().Prove(ctx, b.Host, b.Proof, challenge))
	case ProofDNS:
		why = notRecorded(b.Host, h.prover().Prove(ctx, b.Host, b.Proof, challenge))
	default:
		why = "A proof is well-known, dns or person."
	}
	if why == "" {
		return nil
	}
	return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/proof", "%s", why)
}

// notServed says in a sentence why a file is no proof, or nothing when it is one.
func notServed(host string, r Proven) string {
	at := "https://" + host + WellKnownPath
	switch {
	case r.Shown:
		return ""
	case r.Status == http.StatusOK:
		return fmt.Sprintf("%s has no line that is this agent's challenge; put it there and try again.", at)
	case r.Status != 0:
		return fmt.Sprintf("%s answered %d, and only 200 counts; serve the file there and try again.", at, r.Status)
	case r.Failure == FailureGuarded || r.Failure == FailureRefused:
		return fmt.Sprintf("%s leads to a private or special address, which this hub does not call; bind the host by a TXT record.", at)
	default:
		return fmt.Sprintf("%s did not answer (%s); serve the file there and try again.", at, r.Failure)
	}
}

// notRecorded is notServed for a TXT record.
func notRecorded(host string, r Proven) string {
	name, _, _ := strings.Cut(host, ":")
	switch {
	case r.Shown:
		return ""
	case r.Failure == FailureRefused:
		return "An address has no TXT record; bind the host by the file, or vouch for it."
	case r.Failure != "":
		return fmt.Sprintf("No TXT record of %s was found; add one with the agent's challenge, wait until DNS has it, and try again.", DNSLabel+name)
	default:
		return fmt.Sprintf("No TXT record of %s is this agent's challenge; add it, wait until DNS has it, and try again.", DNSLabel+name)
	}
}

// UnbindHost takes a host from an agent: from now on no credential of the agent goes there, not even of what was submitted
// before. A host that is not bound is no error.
func (h *Hub) UnbindHost(ctx context.Context, c *Caller, id, host string) error {
	if name, err := h.prover().Host(host); err == nil {
		host = name
	}
	return h.changeOwn(ctx, c, id, "host_unbind", func(a *Agent) (bool, error) {
		hosts := slices.DeleteFunc(slices.Clone(a.Hosts), func(b CallbackHost) bool { return b.Host == host })
		if len(hosts) == len(a.Hosts) {
			return false, nil
		}
		a.Hosts = hosts
		return true, nil
	})
}

// attaches says whether pushes of a scheme carry the secret itself, for which the host must be bound (spec §9.4). hmac does
// not: it shows a signature, which is good for this one URL.
func attaches(scheme string) bool { return scheme != ma2h.SchemeHMAC }

// boundTo says whether the host of a callback's URL is one of the agent's, or one that the operator of the hub vouches for.
func (h *Hub) boundTo(a *Agent, rawURL string) bool {
	if h.Settings.SigningKey != nil || h.prover().Vouched(rawURL) {
		return true
	}
	host, ok := HostOf(rawURL)
	return ok && slices.ContainsFunc(a.Hosts, func(b CallbackHost) bool { return b.Host == host })
}

// HostOf returns the host of an https URL that Pusher.Check lets pass, in the form of Prover.Host: in small letters, an
// address in its one spelling, with the port unless that is 443.
func HostOf(rawURL string) (host string, ok bool) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	host = strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != "443" {
		host += ":" + port
	}
	return host, true
}

// shownHost is the host of a URL for people to read.
func shownHost(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// noProver stands in where a hub has no Prover: no host is known but by a person.
type noProver struct{}

func (noProver) Host(host string) (string, error) { return strings.ToLower(host), nil }
func (noProver) Vouched(string) bool              { return false }
func (noProver) Prove(context.Context, string, Proof, string) Proven {
	return Proven{Failure: FailureNetwork}
}

func (h *Hub) prover() Prover {
	if h.Prover == nil {
		return noProver{}
	}
	return h.Prover
}
