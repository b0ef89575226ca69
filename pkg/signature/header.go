package signature

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// HeaderName is the HTTP header that carries a signature (spec §9.2).
const HeaderName = "MA2H-Signature"

// Window is how far a signature's time may lie from the verifier's clock, on either side, where the hub's capability
// document says nothing else (spec §9.2).
const Window = 120 * time.Second

// The errors of a signature that does not hold. None says which key or which member was wrong.
var (
	ErrMalformed = errors.New("signature: the header is malformed")
	ErrWindow    = errors.New("signature: signed too long ago, or ahead of this clock")
	ErrMismatch  = errors.New("signature: it does not match what was received")
	ErrReplayed  = errors.New("signature: this delivery was seen before")
)

const (
	maxHeaderLength = 2048
	maxNonceLength  = 256
	maxTimeDigits   = 12
	minSignature    = 32 // bytes (spec §9.2)
)

// Header is the parsed value of a signature header (spec §9.2).
type Header struct {
	Time      time.Time // when it was signed, in whole seconds
	Nonce     string    // jti: never the same twice
	Signature []byte    // v1
}

// String returns the header's value: t=<unix>,jti=<nonce>,v1=<base64url without padding>.
func (h Header) String() string {
	return fmt.Sprintf("t=%d,jti=%s,v1=%s", h.Time.Unix(), h.Nonce, base64.RawURLEncoding.EncodeToString(h.Signature))
}

// Line returns the form that mailbox entries carry: the header's name and its value, as Sign returns it (spec §8.7).
func Line(value string) string { return HeaderName + ": " + value }

// ParseHeader reads a header's value, or the whole line as entries carry it. The three parameters may stand in any order,
// with spaces around the commas; others are ignored. The error is ErrMalformed.
func ParseHeader(s string) (Header, error) {
	if len(s) > maxHeaderLength {
		return Header{}, ErrMalformed
	}
	params, err := parseParams(cutName(s))
	if err != nil {
		return Header{}, err
	}
	t, ok := parseTime(params["t"])
	if !ok || !isNonce(params["jti"]) {
		return Header{}, ErrMalformed
	}
	mac, ok := decodeMAC(params["v1"])
	if !ok {
		return Header{}, ErrMalformed
	}
	return Header{Time: t, Nonce: params["jti"], Signature: mac}, nil
}

func cutName(s string) string {
	if name, value, ok := strings.Cut(s, ":"); ok && strings.EqualFold(strings.TrimSpace(name), HeaderName) {
		return value
	}
	return s
}

// parseParams returns the parameters by name. One that occurs twice is refused, since readers would differ about it.
func parseParams(s string) (map[string]string, error) {
	params := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(strings.Trim(part, " \t"), "=")
		if _, twice := params[name]; !ok || twice {
			return nil, ErrMalformed
		}
		params[name] = value
	}
	return params, nil
}

// parseTime reads Unix seconds in the one spelling that a signer writes, since the spelling itself is signed.
func parseTime(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || len(s) > maxTimeDigits || strconv.FormatInt(n, 10) != s {
		return time.Time{}, false
	}
	return time.Unix(n, 0).UTC(), true
}

// isNonce says whether s can stand in a header without a comma or a space being taken for more than it is.
func isNonce(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == ',' {
			return false
		}
	}
	return s != "" && len(s) <= maxNonceLength
}

// decodeMAC accepts exactly what spec §9.2 calls well-formed: the base64url alphabet, no padding or the structural pad
// count, at least 32 bytes. It is not asked whether the value encodes back to itself.
func decodeMAC(s string) ([]byte, bool) {
	core := strings.TrimRight(s, "=")
	if pads := len(s) - len(core); pads != 0 && pads != (4-len(core)%4)%4 {
		return nil, false
	}
	if strings.ContainsAny(core, "\r\n") { // which the decoder would skip
		return nil, false
	}
	mac, err := base64.RawURLEncoding.DecodeString(core)
	return mac, err == nil && len(mac) >= minSignature
}
