package callback

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/mash-hub/mash/pkg/hub"
)

// failureOf is the code of what went wrong on the way, which names no address.
func failureOf(err error) hub.Failure {
	switch {
	case errors.Is(err, errAddress):
		return hub.FailureGuarded
	case is[*net.DNSError](err):
		return hub.FailureDNS
	case isTimeout(err):
		return hub.FailureTimeout
	case isTLS(err):
		return hub.FailureTLS
	case isDial(err):
		return hub.FailureConnect
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return hub.FailureReset
	}
	return failureByWords(err)
}

// failureByWords reads what net/http says where it gives no type.
func failureByWords(err error) hub.Failure {
	text := err.Error()
	switch {
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list too large"):
		return hub.FailureTooLong
	case strings.Contains(text, "malformed"), strings.Contains(text, "bad Content-Length"):
		return hub.FailureMalformed
	case strings.Contains(text, "server closed"), strings.Contains(text, "server sent GOAWAY"), strings.Contains(text, "stream error"):
		return hub.FailureReset
	}
	return hub.FailureNetwork
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || ok && timeout.Timeout()
}

func isTLS(err error) bool {
	return is[*tls.CertificateVerificationError](err) || is[tls.RecordHeaderError](err) || is[tls.AlertError](err) ||
		is[x509.HostnameError](err) || is[x509.UnknownAuthorityError](err) || is[x509.CertificateInvalidError](err) ||
		is[*net.OpError](err) && strings.Contains(err.Error(), "remote error: tls")
}

// isDial says whether no connection was made at all.
func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
