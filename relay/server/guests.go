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
	// maxGuests bounds the connections of which nothing is known yet: those that have not become
	// a subscriber's. Each costs some 40 kB at most while its request's head arrives.
	maxGuests = 2048
	// guestsOfHTTP2 is as how many of them a connection by HTTP/2 counts. Each of its streamsOfConnection
	// requests costs some 16 kB, and net/http keeps four times as many waiting that were taken back at once.
	guestsOfHTTP2 = 8
)

// errCrowded ends the handshake of a connection for which there is no room.
var errCrowded = errors.New("too many connections at once")

// guests is a listener that bounds the connections of strangers, by networks: when there are
// too many, a new one replaces the oldest of the network that has most.
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

// guest is a connection that counts until it is closed, or turns out to be a subscriber's.
type guest struct {
	net.Conn
	claim *claim
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.claim.leave()
	return g.Conn.Close()
}

// weighed is a configuration, if there is one, by which a connection that can be one by HTTP/2 counts as
// several before anything is asked by it: what comes at once is under way before any handler has run.
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

// guestKey is where a request's context has the connection.
type guestKey struct{}

// remember is for http.Server.ConnContext.
func remember(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, guestKey{}, conn)
}

// welcome lets a request's connection be no stranger's any more.
func welcome(ctx context.Context) {
	if g, ok := ctx.Value(guestKey{}).(*guest); ok {
		g.claim.leave()
	}
}
