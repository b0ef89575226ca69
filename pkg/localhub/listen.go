package localhub

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// MetricsOpen says whether others than this machine may be able to read the metrics.
func (s *Server) MetricsOpen() bool {
	return s.watchers != nil && !loopback(s.watchers.Addr().String())
}

// loopback says whether a listen address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func listen(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; %s", address, errors.Unwrap(err), otherwise(err, flag))
	}
	return l, nil
}

// otherwise is what to do where nothing can listen, by why not.
func otherwise(err error, flag string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop what holds it, or choose another with " + flag
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine does not have that address; give one that it has to " + flag
	case errors.Is(err, syscall.EACCES):
		return "give a port of 1024 or above to " + flag + ", since those below are not for everybody"
	}
	return "choose another with " + flag
}
