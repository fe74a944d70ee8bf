package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"touchstone/relay/server"
)

// maxConfigBytes is far above any configuration.
const maxConfigBytes = 1 << 20

// Config is what `relay serve` is told, by relay.yaml and by flags, which win.
type Config struct {
	// Listen is the address to take connections on.
	Listen string `yaml:"listen"`
	// Store says where the log is kept, as server.OpenStore reads it.
	Store string `yaml:"store"`
	// Retention is how long events are kept; zero keeps them all.
	Retention time.Duration `yaml:"retention"`
	// AllowUnsigned names sources whose webhooks are believed without a secret.
	AllowUnsigned []string `yaml:"allow_unsigned"`
	// Sources are the endpoints below /webhooks/, by name. Without any there is
	// "github", whose secret is in RELAY_GITHUB_SECRET.
	Sources map[string]endpoint `yaml:"sources"`
	// TLSCert and TLSKey are files in PEM; with them connections are encrypted.
	TLSCert string `yaml:"tls_cert"`
	TLSKey  string `yaml:"tls_key"`
	// Recover names whose webhooks to look after, as recovery.ParseTarget reads them.
	Recover []string `yaml:"recover"`
	// PublicURL is where GitHub reaches this relay. It is only needed where the webhooks
	// of several relays stand side by side.
	PublicURL string `yaml:"public_url"`
	// GitHubAPI is the address of GitHub's REST API; empty means github.com's.
	GitHubAPI string `yaml:"github_api"`
}

// defaultConfig is what holds where nothing else is said.
func defaultConfig() Config {
	return Config{Listen: "127.0.0.1:8080", Store: "sqlite:relay.db", Retention: 30 * 24 * time.Hour}
}

// load overlays the file's settings. An unknown key is an error that names it.
func (c *Config) load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	defer file.Close()
	if err := c.decode(file); err != nil {
		return fmt.Errorf("read configuration %s: %s", path, yaml.FormatError(err, false, true))
	}
	return nil
}

func (c *Config) decode(text io.Reader) error {
	err := yaml.NewDecoder(io.LimitReader(text, maxConfigBytes), yaml.Strict()).Decode(c)
	if errors.Is(err, io.EOF) {
		return nil // an empty file
	}
	return err
}

// validate reports the first setting that cannot work, before anything is opened.
func (c Config) validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("%q is no address to listen on; write one such as 127.0.0.1:8080", c.Listen)
	}
	if err := server.ValidateStore(c.Store); err != nil {
		return err
	}
	if c.Retention < 0 {
		return fmt.Errorf("retention is %s; write a time such as 720h, or 0 to keep everything", c.Retention)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("tls-cert and tls-key belong together: give both, or neither")
	}
	return c.validateSources()
}

// encryption is how connections are encrypted; nil when they are not.
func (c Config) encryption() (*tls.Config, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	certificate, err := server.LoadCertificate(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, err
	}
	return certificate.Config(), nil
}
