// Package password turns a person's password into what may be kept of it, and holds a guess against that. It fences off
// golang.org/x/crypto/argon2.
package password

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Parameters is how hard a guess is: argon2id with this much memory, this many passes and lanes.
type Parameters struct {
	MemoryKiB, Time uint32
	Lanes           uint8
}

// Today is what new hashes are made with: the least memory that OWASP advises for argon2id, so that a small machine bears
// several at once.
func Today() Parameters { return Parameters{MemoryKiB: 19 << 10, Time: 2, Lanes: 1} }

const (
	saltBytes = 16
	keyBytes  = 32

	// What a hash that is read may ask for at most, so that a record cannot make the hub run out of memory.
	maxMemoryKiB = 256 << 10
	maxTime      = 16
	maxLanes     = 16
)

// ErrMalformed is the error of a hash that none of ours can be.
var ErrMalformed = errors.New("password: no hash of argon2id")

// encoding is that of the PHC string format: base64 without padding.
var encoding = base64.RawStdEncoding.Strict()

// Hasher makes hashes and checks guesses, a few at a time, so that a flood of guesses waits instead of eating memory.
type Hasher struct {
	parameters Parameters
	places     chan struct{}
	dummy      string
}

// New returns a Hasher that makes hashes with these parameters, or those of Today where there are none.
func New(p Parameters) *Hasher {
	p = cmp.Or(p, Today())
	h := &Hasher{parameters: p, places: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
	h.dummy = encode(p, make([]byte, saltBytes), make([]byte, keyBytes)) // no password has this key
	return h
}

// Hash returns what may be kept of a password, in the PHC string format. The error is that of ctx, when it ended before
// there was a place.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	key, err := h.key(ctx, h.parameters, password, salt)
	if err != nil {
		return "", err
	}
	return encode(h.parameters, salt, key), nil
}

// Verify says whether password is the one that hash was made of, and whether hash was made with other parameters than new
// ones are, so that it is time for a new one. An empty hash stands for no password: it takes the same time, and nothing is
// right.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (right, old bool, _ error) {
	none := hash == ""
	if none {
		hash = h.dummy
	}
	p, salt, want, err := decode(hash)
	if err != nil {
		return false, false, err
	}
	got, err := h.key(ctx, p, password, salt)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && !none, p != h.parameters, nil
}

// key computes a key once there is a place.
func (h *Hasher) key(ctx context.Context, p Parameters, password string, salt []byte) ([]byte, error) {
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.places }()
	return argon2.IDKey([]byte(password), salt, p.Time, p.MemoryKiB, p.Lanes, keyBytes), nil
}

func encode(p Parameters, salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.MemoryKiB, p.Time, p.Lanes,
		encoding.EncodeToString(salt), encoding.EncodeToString(key))
}

func decode(hash string) (p Parameters, salt, key []byte, _ error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return p, nil, nil, ErrMalformed
	}
	p, ok := parseParameters(parts[3])
	salt, badSalt := encoding.DecodeString(parts[4])
	key, badKey := encoding.DecodeString(parts[5])
	if !ok || badSalt != nil || badKey != nil || len(salt) < 8 || len(key) != keyBytes {
		return p, nil, nil, ErrMalformed
	}
	return p, salt, key, nil
}

// parseParameters reads m=,t=,p= in this order, within what is borne.
func parseParameters(s string) (p Parameters, ok bool) {
	values := strings.Split(s, ",")
	if len(values) != 3 {
		return p, false
	}
	var n [3]uint32
	for i, c := range []struct {
		name string
		most uint64
	}{{"m=", maxMemoryKiB}, {"t=", maxTime}, {"p=", maxLanes}} {
		digits, found := strings.CutPrefix(values[i], c.name)
		v, err := strconv.ParseUint(digits, 10, 32)
		if !found || err != nil || v < 1 || v > c.most || digits != strconv.FormatUint(v, 10) {
			return p, false
		}
		n[i] = uint32(v)
	}
	return Parameters{MemoryKiB: n[0], Time: n[1], Lanes: uint8(n[2])}, true
}
