package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
)

// A connection that may use HTTP/2 counts as several, even before its handshake is over.
func TestConnectionByHTTP2CountsAsSeveral(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	for name, tc := range map[string]struct {
		speaks []string
		counts int64
	}{
		"HTTP/2":           {[]string{"h2", "http/1.1"}, guestsOfHTTP2},
		"HTTP/1.1":         {[]string{"http/1.1"}, 1},
		"nothing it tells": {nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			far, near := net.Pipe()
			defer far.Close()
			all := newShares(guestsOfHTTP2, 0)
			g := &guest{near, all.enter(netip.MustParseAddr("192.0.2.1"), func() { _ = near.Close() })}
			g.claim.take(1)
			server := tls.Server(g, weighed(&tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}}))
			go func() { _ = tls.Client(far, &tls.Config{InsecureSkipVerify: true, NextProtos: tc.speaks}).Handshake() }()
			if err := server.Handshake(); err != nil || all.used != tc.counts {
				t.Errorf("%s counts as %d, %v", name, all.used, err)
			}
			other := all.enter(netip.MustParseAddr("192.0.2.2"), func() {})
			if !other.take(1) {
				t.Errorf("%s: there is no room for another network", name)
			}
			_ = g.Close()
			if other.leave(); all.used != 0 {
				t.Errorf("%s: in the end %d are counted", name, all.used)
			}
		})
	}
}
