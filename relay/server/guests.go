package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
)

// maxGuests bounds the connections of which nothing is known yet: those that have not become
// a subscriber's. Each costs some 40 kB at most while its request's head arrives.
const maxGuests = 2048

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

// guestKey is where a request's context has the connection.
type guestKey struct{}

// remember is for http.Server.ConnContext.
func remember(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, guestKey{}, conn)
}

// welcome lets a request's connection and stream be no stranger's any more.
func welcome(ctx context.Context) {
	if stream, ok := ctx.Value(streamKey{}).(*claim); ok {
		stream.leave()
	}
	if g, ok := ctx.Value(guestKey{}).(*guest); ok {
		g.claim.leave()
	}
}
