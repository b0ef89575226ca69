package lifecycle

import "github.com/mash-hub/mash/pkg/ma2h"

// The response track (spec §14.2) goes from nothing to delivered-to-agent to acknowledged, or from nothing to expired.
// Each function returns the state that follows and whether it is another one.

// Deliver follows the agent's having got the Response, by push or by pull.
func Deliver(t ma2h.Track) (ma2h.Track, bool) {
	if t == "" {
		return ma2h.TrackDeliveredToAgent, true
	}
	return t, false
}

// Acknowledge follows the agent's ack. It is lawful only once the Response was delivered (spec §8.5, §14.3).
func Acknowledge(t ma2h.Track) (next ma2h.Track, changed, lawful bool) {
	switch t {
	case ma2h.TrackDeliveredToAgent:
		return ma2h.TrackAcknowledged, true, true
	case ma2h.TrackAcknowledged:
		return t, false, true
	}
	return t, false, false
}

// Retire follows the end of retention: an answer that nobody fetched was never seen, and one that was stays so.
func Retire(t ma2h.Track) (ma2h.Track, bool) {
	if t == "" {
		return ma2h.TrackExpired, true
	}
	return t, false
}
