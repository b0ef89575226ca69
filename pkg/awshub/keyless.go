package awshub

import (
	"context"

	"github.com/mash-hub/mash/pkg/hub"
)

// keyless is a hub.Keys of a function that opens none, because no use case of it needs one: its permissions would not let
// it. A use that the table of endpoints does not know of is a bug, and must not derive a wrong id instead.
type keyless struct{}

var _ hub.Keys = keyless{}

const needsKeys = "awshub: a function uses the hub's keys whose row in pkg/endpoint does not say so"

// Hash panics.
func (keyless) Hash(...string) [32]byte { panic(needsKeys) }

// Wrap panics.
func (keyless) Wrap(context.Context, string, []byte) ([]byte, error) { panic(needsKeys) }

// Unwrap panics.
func (keyless) Unwrap(context.Context, string, []byte) ([]byte, error) { panic(needsKeys) }

// Public panics.
func (keyless) Public() []hub.PublicKey { panic(needsKeys) }

// Sign panics.
func (keyless) Sign(context.Context, []byte) (string, []byte, error) { panic(needsKeys) }
