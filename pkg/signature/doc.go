// Package signature signs and verifies the six contexts of MA2H: a pushed Response (spec §9.2), a directive (spec §9.7),
// the message, response and receipt entries of a mailbox (spec §9.8), and a pushed ack (spec §14.4).
//
// A Context is built from the very bytes that are sent or were received, so that signer and verifier share one way to
// compute the digest, and no digest is ever taken from the wire:
//
//	ctx, err := signature.Response(body, callbackURL)
//	value, err := ctx.Sign(signature.HMAC(secret), now, ma2h.NewID(ma2h.PrefixNonce)) // the hub
//	header, err := ctx.Verify(r.Header.Get(signature.HeaderName), now, signature.Window, signature.HMAC(secret)) // the agent
//
// What is verified is authentic, not new: a verifier also keeps a Replays.
package signature
