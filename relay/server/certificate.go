package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate is a TLS certificate in two files. They are read again when they change, so that renewing the
// certificate takes no restart.
type Certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	current *tls.Certificate
	version [2]time.Time // the modification times of the files that were read last
}

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
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.refresh()
	return c.current, nil
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
