package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"touchstone/worktree/await"
)

// authority runs Let's Encrypt's own test server in this process. It resolves every name to this machine, and
// connects to port for its challenge. Only client trusts the certificate of the authority itself.
func authority(t *testing.T, port int) (directory string, client *http.Client, roots *x509.CertPool) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	names := probe.Addr().String()
	probe.Close()
	resolver, err := challtestsrv.New(challtestsrv.Config{Log: quiet, DNSAddrs: []string{names}})
	if err != nil {
		t.Fatal(err)
	}
	resolver.SetDefaultDNSIPv4("127.0.0.1")
	resolver.SetDefaultDNSIPv6("")
	go resolver.Run()
	t.Cleanup(resolver.Shutdown)
	// The validator asks by TCP only, and the resolver does not say when it listens.
	ask := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", names)
	}}
	await.Until(t, "the resolver answers", func() bool {
		_, err := ask.LookupNetIP(t.Context(), "ip4", "relay.test.")
		return err == nil
	})

	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: 90 * 24 * 3600}})
	validator := va.New(quiet, 1, port, false, names, store)
	front := wfe.New(quiet, store, validator, issuer, nil, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	block, _ := pem.Decode(issuer.GetRootCert(0).PEM())
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(root)
	return server.URL + "/dir", server.Client(), roots
}

// TestDomainGetsItsCertificate serves with only a domain configured. The first connection is encrypted with a
// certificate that the authority issued for the domain, another name is refused, and a restart does not ask
// the authority again.
func TestDomainGetsItsCertificate(t *testing.T) {
	const domain = "relay.test"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	directory, client, roots := authority(t, listener.Addr().(*net.TCPAddr).Port)
	dir := t.TempDir()
	config := defaultConfig()
	config.Store, config.Domain, config.ACMEDirectory = "sqlite:"+filepath.Join(dir, "relay.db"), domain, directory
	must(t, config.validate())
	serve := func(listener net.Listener) *http.Server {
		encryption, err := config.encryption(client)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{
			Handler:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }),
			TLSConfig: encryption, ErrorLog: log.New(io.Discard, "", 0),
		}
		go server.ServeTLS(listener, "", "")
		return server
	}
	server := serve(listener)
	connect := func(address, name string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: name, RootCAs: roots}}).DialContext(ctx, "tcp", address)
		if err == nil {
			conn.Close()
		}
		return err
	}
	must(t, connect(listener.Addr().String(), domain))
	if err := connect(listener.Addr().String(), "other.test"); err == nil {
		t.Error("another name has a certificate too")
	}
	server.Close()
	kept, err := os.ReadDir(filepath.Join(dir, "certificates"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("nothing is kept: %v", err)
	}
	config.ACMEDirectory = "http://127.0.0.1:1/"
	again, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer serve(again).Close()
	if err := connect(again.Addr().String(), domain); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}
