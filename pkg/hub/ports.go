package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// Bell wakes whoever waits for something to happen to a lane. The record decides; the bell only says "look again". A
// lost ring costs time and nothing else: every wait ends with one more look.
type Bell interface {
	// Ring wakes who listens to lane now: in this process all of them, and of several processes one at least. It never fails
	// and never blocks for long.
	Ring(ctx context.Context, lane string)

	// Listen returns a channel that receives after each Ring of any of the lanes from now on, several rings perhaps as one,
	// and a function that ends it. Listen before looking, so that no ring falls between.
	Listen(ctx context.Context, lanes ...string) (rung <-chan struct{}, stop func())

	// Forget says that nobody will listen to lane again, so that nothing need be kept for it. It never fails.
	Forget(ctx context.Context, lane string)
}

// Clockwork makes what is due happen promptly. It is told of a record's due time after the Commit that wrote it, and
// calls Hub.Fire for that key at about that time, and again at the time that Fire returns, until Fire returns none.
// Being told is a favour: the sweep finds by Store.Due whatever was not told, or was told to a process that died.
//
// A key MUST NOT be fired twice at once by one Clockwork, and one that is armed while it is fired MUST be fired once more.
// When Fire fails it MUST be fired again.
type Clockwork interface {
	Arm(ctx context.Context, key record.Key, at time.Time)
}

// Pusher makes one attempt to deliver a callback (spec §8.3). It MUST NOT follow redirects nor use a proxy, and MUST
// refuse special-purpose addresses when it dials (spec §9.4).
type Pusher interface {
	Push(ctx context.Context, p Push) PushResult

	// Check says in one plain sentence why no attempt to this URL could ever be made, or returns nil. It resolves no
	// name: a submit is told at once what needs no look at the network.
	Check(url string) error
}

// Push is one attempt of a callback: an HTTP POST.
type Push struct {
	MessageID string
	Attempt   int // from 1
	URL       string
	Headers   map[string]string // Content-Type, MA2H-Signature and the credential of the scheme
	Body      []byte            // the Response or directive, exactly as signed
}

// Prover knows hosts, and looks whether they show what only their owners can make them show (spec §9.4). It goes where and
// as a Pusher goes, and nowhere else.
type Prover interface {
	// Host returns the one form of a host that a person names, with or without a port: in small letters, international
	// names as DNS has them, the port only where it is not 443. It says in one plain sentence why a text is none, or one
	// that no callback goes to. For the URL of a callback to that host, which Pusher.Check lets pass, the host is the same.
	Host(typed string) (string, error)

	// Vouched says whether the operator of the hub has allowed the host of a callback's URL by name, so that it counts as
	// every agent's own.
	Vouched(callbackURL string) bool

	// Prove looks once, within a few seconds, whether a host shows a line: ProofWellKnown at WellKnownPath over HTTPS,
	// ProofDNS in a TXT record of DNSLabel and the host. It MUST NOT follow redirects.
	Prove(ctx context.Context, host string, proof Proof, line string) Proven
}

// Proven is what a look at a host has shown.
type Proven struct {
	Shown   bool
	Status  int     // HTTP status, where there was an answer
	Failure Failure // where there was none
}

// PushResult is what came of an attempt: the status of the answer, or in its absence why there was none.
type PushResult struct {
	Status     int           // HTTP status, or 0
	RetryAfter time.Duration // what the receiver asked for, or 0
	Failure    Failure       // when Status is 0
}

// Failure is why an attempt got no answer, as a code without addresses or names.
type Failure string

// The failures of an attempt. The last six are never tried again, since nothing about them will change by waiting.
const (
	FailureDNS       Failure = "dns"       // the name leads to no address
	FailureConnect   Failure = "connect"   // nobody listens, or there is no way there
	FailureTLS       Failure = "tls"       // the certificate is not good for the name, or not good at all
	FailureTimeout   Failure = "timeout"   // no answer in time
	FailureReset     Failure = "reset"     // the connection broke before there was an answer
	FailureTooLong   Failure = "too_long"  // the header of the answer has no end
	FailureMalformed Failure = "malformed" // what came is no whole answer of HTTP
	FailureNetwork   Failure = "network"   // whatever else may go wrong on the way
	FailureGuarded   Failure = "guarded"   // the name led to an address that the guard forbids; another time it may not

	FailureRefused Failure = "refused" // what Check refuses
	FailureUnbound Failure = "unbound" // the host is not the agent's own any more, so that no credential goes there
	FailureNoKey   Failure = "no_key"  // the agent's secret of that name is gone
	FailureRevoked Failure = "revoked" // the agent may not have it any more: its callback may be somebody else's

	FailureNoWebhook Failure = "no_webhook" // the agent's webhook was taken away since the directive was sent
	FailureStopped   Failure = "stopped"    // a person has stopped the agent, so that nothing is pushed to it
)

// Final says whether a failure is one that waiting does not change.
func (f Failure) Final() bool {
	switch f {
	case FailureRefused, FailureUnbound, FailureNoKey, FailureRevoked, FailureNoWebhook, FailureStopped:
		return true
	}
	return false
}

// ErrNoKey is the error of Keys for a wrapped key that it cannot open.
var ErrNoKey = errors.New("hub: no such key")

// Keys holds what must stay secret. All methods work in memory but for the first use of a wrapping key.
type Keys interface {
	// Hash returns the HMAC-SHA256 of data under the key that derives refs and ids. That key never changes, else
	// replays would make doubles.
	Hash(data ...string) [32]byte

	// Wrap encrypts a secret for storage in a record; purpose is authenticated with it and must be the same to unwrap.
	Wrap(ctx context.Context, purpose string, secret []byte) ([]byte, error)

	// Unwrap returns the secret of Wrap, or ErrNoKey.
	Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error)

	// Public returns the hub's public signing keys, newest first.
	Public() []PublicKey

	// Sign returns the ed25519 signature of message under the hub's current key, and the id of that key, which MUST be one of
	// Public.
	Sign(ctx context.Context, message []byte) (kid string, signature []byte, err error)
}

// PublicKey is one of the hub's ed25519 keys as the JWKS shows it.
type PublicKey struct {
	ID  string // kid
	Key []byte // 32 bytes
}
