package server

import (
	"bytes"
	"crypto/x509"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// Whoever renews a certificate has failed for two weeks before the log says so, once a day.
func TestACertificateThatIsNotRenewedIsLogged(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		life, first time.Duration
	}{
		"of an authority": {90 * day, 76 * day},
		"of a year":       {365 * day, 351 * day},
		"of six days":     {6 * day, 5 * day},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			ctx := zerolog.New(&log).WithContext(t.Context())
			begun := time.Now()
			leaf, r := &x509.Certificate{NotBefore: begun, NotAfter: begun.Add(test.life)}, new(renewals)
			for lines := 0; time.Since(begun) < test.life; time.Sleep(time.Hour) {
				r.look(ctx, leaf)
				if since := time.Since(begun) - test.first; since >= 0 {
					lines = int(since/day) + 1
				}
				if got := bytes.Count(log.Bytes(), []byte("about to expire")); got != lines {
					t.Fatalf("%s: %d lines after %s, want %d", name, got, time.Since(begun), lines)
				}
			}
		})
	}
}
