package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
)

const (
	// maxGuests bounds the connections that have not become a subscriber's, of which nothing is known yet.
	// Each takes at most some 40 kB while its request's head arrives.
	maxGuests = 2048
	// guestsOfHTTP2 is how many guests an HTTP/2 connection counts as. Each of its streamsOfConnection
	// requests takes some 16 kB, and net/http keeps four times as many waiting if they are cancelled at once.
	guestsOfHTTP2 = 8
)

// errCrowded ends the handshake of a connection for which there is no room.
var errCrowded = errors.New("too many connections at once")

// guests is a listener that bounds the connections of strangers, by network: when there are too many, a new
// connection replaces the oldest one of the network that has most.
type guests struct {
	net.Listener
	shares *shares
}

func newGuests(listener net.Listener) *guests {
	return &guests{listener, newShares(min(maxGuests, descriptors()/4), 0)}
}

// Accept implements net.Listener.
func (g *guests) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, err := netip.ParseAddrPort(conn.RemoteAddr().String())
		if err != nil {
			return conn, nil // no network, no share
		}
		guest := &guest{conn, g.shares.enter(address.Addr().Unmap(), func() { _ = conn.Close() })}
		if guest.claim.take(1) {
			return guest, nil
		}
		_ = guest.Close()
	}
}

// guest is a connection that counts until it is closed or becomes a subscriber's.
type guest struct {
	net.Conn
	claim *claim
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.claim.leave()
	return g.Conn.Close()
}

// weighed returns a TLS configuration, if there is one, that makes a connection that may use HTTP/2 count as
// several. It does so in the handshake, because many requests can be under way before the first handler runs.
func weighed(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if g, ok := hello.Conn.(*guest); ok && slices.Contains(hello.SupportedProtos, "h2") && !g.claim.take(guestsOfHTTP2) {
			return nil, errCrowded
		}
		return nil, nil
	}
	return config
}

// guestKey is the key of the connection in a request's context.
type guestKey struct{}

// remember is for http.Server.ConnContext.
func remember(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, guestKey{}, conn)
}

// welcome stops counting a request's connection as a stranger's.
func welcome(ctx context.Context) {
	if g, ok := ctx.Value(guestKey{}).(*guest); ok {
		g.claim.leave()
	}
}
