package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/server"
)

// handshake makes a connection and returns the certificate's serial number.
func handshake(t *testing.T, ctx context.Context, config *tls.Config) int64 {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	done := make(chan error, 1)
	go func() { done <- tls.Server(far, config).HandshakeContext(ctx) }()
	// The bubble's time is long before the certificate's.
	client := tls.Client(near, &tls.Config{InsecureSkipVerify: true})
	must(t, client.HandshakeContext(ctx))
	must(t, <-done)
	return client.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// A renewed certificate that cannot be used is said before the earlier one expires, once a day and when the reason is another, but
// not while it is being written.
func TestARenewalThatFailsIsLogged(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile, _ := certify(t, folder, 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx := zerolog.New(&log).WithContext(t.Context())
		config := certificate.Config()
		connect := func(after time.Duration, serial int64, want ...string) {
			t.Helper()
			time.Sleep(after)
			log.Reset()
			if got := handshake(t, ctx, config); got != serial {
				t.Errorf("certificate %d is in use, want %d", got, serial)
			}
			if lines := log.String(); strings.Count(lines, "\n") != len(want) || len(want) > 0 && !strings.Contains(lines, want[0]) {
				t.Errorf("logged %q, want %q", lines, want)
			}
		}
		connect(0, 1)
		must(t, os.WriteFile(keyFile, []byte("half"), 0o600))
		connect(0, 1)
		connect(time.Second, 1)
		certify(t, folder, 2)
		connect(time.Second, 2)
		must(t, os.WriteFile(keyFile, []byte("half"), 0o600))
		connect(time.Second, 2)
		connect(time.Minute, 2, `"level":"error"`)
		connect(time.Hour, 2)
		must(t, os.Remove(keyFile))
		connect(time.Second, 2, `"level":"error"`)
		connect(time.Hour, 2)
		connect(24*time.Hour, 2, `"level":"error"`)
		certify(t, folder, 3)
		connect(time.Second, 3, `"level":"info"`)
		connect(time.Second, 3)
	})
}

// The log of a relay says that its certificate is about to expire, however it got it.
func TestTheCertificateInUseIsWatched(t *testing.T) {
	t.Parallel()
	certFile, keyFile, roots := certify(t, t.TempDir(), 1) // for an hour
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	log, address := startJournal(t, server.Config{TLS: certificate.Config()})
	for range 2 {
		conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if lines := log.lines("about to expire"); len(lines) != 1 || !strings.Contains(lines[0], `"level":"error"`) {
		t.Errorf("two connections made these lines: %q", lines)
	}
}
