package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Certificate is a TLS certificate in two files. They are read again when they change, so that renewing the
// certificate takes no restart.
type Certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	current *tls.Certificate
	version [2]time.Time // the modification times of the files that were read last
	failing time.Time    // since when the files cannot be used; zero if they can
	said    time.Time    // when the log said so last; zero if it did not
	why     string       // what it said then
}

const (
	// renewalGrace is how long the files may be unusable: they are not written at the same moment.
	renewalGrace = time.Minute
	// renewalReminder is the time between two log lines about files that stay unusable for the same reason.
	renewalReminder = 24 * time.Hour
)

// LoadCertificate reads a certificate with its chain, and its key, both in PEM.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	if err := c.refresh(); err != nil {
		return nil, fmt.Errorf("load the TLS certificate: %w", err)
	}
	return c, nil
}

// Config returns a server's TLS configuration with the certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

// get checks the files' times for each new connection. If the files cannot be read, or do not match because
// only one of them is written yet, it returns the certificate that it has.
func (c *Certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(hello.Context(), c.refresh())
	return c.current, nil
}

// report logs that the files stay unusable: otherwise only the clients would notice, once the certificate in use
// has expired.
func (c *Certificate) report(ctx context.Context, err error) {
	now, log := time.Now(), zerolog.Ctx(ctx)
	switch {
	case err == nil:
		if !c.said.IsZero() {
			log.Info().Msg("the renewed TLS certificate is in use")
		}
		c.failing, c.said, c.why = time.Time{}, time.Time{}, ""
	case c.failing.IsZero():
		c.failing = now
	case now.Sub(c.failing) >= renewalGrace && (now.Sub(c.said) >= renewalReminder || c.why != err.Error()):
		c.said, c.why = now, err.Error()
		log.Error().Err(err).Time("expires", c.current.Leaf.NotAfter).Msg("cannot use the renewed TLS certificate, so connections get the " +
			"earlier one until it expires; both files have to be readable for the relay, and belong together")
	}
}

func (c *Certificate) refresh() error {
	cert, certErr := os.Stat(c.certFile)
	key, keyErr := os.Stat(c.keyFile)
	if err := errors.Join(certErr, keyErr); err != nil {
		return err
	}
	version := [2]time.Time{cert.ModTime(), key.ModTime()}
	if version == c.version {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.version = &pair, version
	return nil
}

// lateRenewal is how long before its end a certificate should have been renewed, unless a sixth of its life is
// shorter. Certificates that are obtained automatically are renewed when a third of their life is left.
const lateRenewal = 14 * 24 * time.Hour

// renewals watches that a certificate is renewed before it expires. Whoever obtains it may fail without a word, as
// autocert does.
type renewals struct {
	mu   sync.Mutex
	said time.Time // when the log said so last
}

// watched returns a TLS configuration, if there is one, with the same certificate, which is watched.
func watched(config *tls.Config) *tls.Config {
	if config == nil || config.GetCertificate == nil {
		return config
	}
	get, watch := config.GetCertificate, new(renewals)
	config = config.Clone()
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		certificate, err := get(hello)
		if err == nil && certificate != nil && certificate.Leaf != nil {
			watch.look(hello.Context(), certificate.Leaf)
		}
		return certificate, err
	}
	return config
}

// look logs once a day that a certificate is about to expire.
func (r *renewals) look(ctx context.Context, leaf *x509.Certificate) {
	now := time.Now()
	if leaf.NotAfter.Sub(now) > min(lateRenewal, leaf.NotAfter.Sub(leaf.NotBefore)/6) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.said) < renewalReminder {
		return
	}
	r.said = now
	zerolog.Ctx(ctx).Error().Time("expires", leaf.NotAfter).Msg("the TLS certificate is about to expire and was not renewed, and then no " +
		"webhook and no agent gets through; if this relay obtains it, the authority has to reach port 443 of the domain")
}
