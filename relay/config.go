package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"touchstone/relay/appkey"
	"touchstone/relay/dashboard/projection"
	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/token"
	"touchstone/worktree/span"
	"touchstone/worktree/strictyaml"
)

// maxConfigBytes is far above any configuration.
const maxConfigBytes = 1 << 20

// Config is the configuration of `touchstone-relay serve`, from relay.yaml and from flags, which override the
// file.
type Config struct {
	// Listen is the address to listen on.
	Listen string `yaml:"listen"`
	// Store says where the log is kept, in the form of server.OpenStore.
	Store string `yaml:"store"`
	// Retention is how long events are kept; zero keeps them all.
	Retention span.Duration `yaml:"retention"`
	// AllowUnsigned names sources whose webhooks are accepted without a secret.
	AllowUnsigned []string `yaml:"allow_unsigned"`
	// Sources are the endpoints below /webhooks/, by name. If there are none, there is "github", whose secret
	// is in RELAY_GITHUB_SECRET.
	Sources map[string]endpoint `yaml:"sources"`
	// TLSCert and TLSKey are PEM files; with them connections are encrypted.
	TLSCert string `yaml:"tls_cert"`
	TLSKey  string `yaml:"tls_key"`
	// Domain is the name for which a certificate is obtained and renewed automatically, by an ACME challenge
	// on the listening port, which has to be reachable as 443.
	Domain string `yaml:"domain"`
	// ACMEDirectory is the address of the certificate authority's directory; empty means Let's Encrypt's
	// (https://datatracker.ietf.org/doc/html/rfc8555#section-7.1.1).
	ACMEDirectory string `yaml:"acme_directory"`
	// Recover names the owners of webhooks to look after, in the form of recovery.ParseTarget.
	Recover []string `yaml:"recover"`
	// PublicURL is the address under which others reach this relay. Invitations lead there, and it tells this
	// relay's webhooks from those of other relays.
	PublicURL string `yaml:"public_url"`
	// TrustedProxies are the addresses or networks of the proxies in front of this relay.
	TrustedProxies []string `yaml:"trusted_proxies"`
	// Reviewers are the logins whose reviews count on the page.
	Reviewers []string `yaml:"reviewers"`
	// NeedsHuman is the label with which the agents call a person, their labels.needs_human.
	NeedsHuman string `yaml:"needs_human"`
	// GitHubAPI is the address of GitHub's REST API; empty means github.com's.
	GitHubAPI string `yaml:"github_api"`
}

// defaultConfig returns the configuration without a file and flags.
func defaultConfig() Config {
	return Config{Listen: "127.0.0.1:8080", Store: "sqlite:relay.db", Retention: span.Duration(30 * 24 * time.Hour),
		NeedsHuman: projection.NeedsHuman}
}

// load overlays the file's settings. Its error lists all mistakes, including unknown keys.
func (c *Config) load(path string) error {
	text, err := readFile(path, maxConfigBytes)
	if err == nil {
		err = strictyaml.Decode(text, c)
	}
	if err != nil {
		return fmt.Errorf("read configuration %s: %w", path, err)
	}
	return nil
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("the file is larger than %d bytes", limit)
	}
	return text, err
}

// validate reports every setting that cannot work, before anything is opened.
func (c Config) validate() error { return errors.Join(c.validateServer(), c.validateSources()) }

// validateServer is validate without the sources, which are unknown if the file has mistakes.
func (c Config) validateServer() error {
	var errs []error
	_, port, err := net.SplitHostPort(c.Listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("%q is not an address to listen on; write one such as 127.0.0.1:8080", c.Listen))
	}
	errs = append(errs, server.ValidateStore(c.Store))
	if c.Retention < 0 {
		errs = append(errs, fmt.Errorf("retention is %s; write a time such as 30d, or 0 to keep everything", c.Retention))
	}
	if c.PublicURL != "" {
		errs = append(errs, validatePublic(c.PublicURL))
	}
	_, err = c.proxies()
	errs = append(errs, err, token.ValidateLogins(c.Reviewers))
	if (c.TLSCert == "") != (c.TLSKey == "") {
		errs = append(errs, errors.New("only one of tls-cert and tls-key is set; set both, or neither"))
	}
	if c.Domain != "" {
		errs = append(errs, c.validateDomain())
	}
	return errors.Join(errs...)
}

// validatePublic reports an address that people cannot open.
func validatePublic(address string) error {
	public, err := url.Parse(address)
	if err != nil || public.Host == "" || public.Scheme != "https" && public.Scheme != "http" {
		return fmt.Errorf("%q is not the address of a relay; write one such as https://relay.example.com", address)
	}
	return nil
}

// proxies parses TrustedProxies.
func (c Config) proxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	var errs []error
	for _, text := range c.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if address, alone := netip.ParseAddr(text); alone == nil {
			address = address.Unmap() // as the addresses of senders are compared
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%q in trusted_proxies is neither an address nor a network; write 10.0.0.7 or 10.0.0.0/8", text))
			continue
		}
		networks = append(networks, network.Masked())
	}
	return networks, errors.Join(errs...)
}

// validateDomain reports why no certificate can be obtained for Domain.
func (c Config) validateDomain() error {
	_, kept := server.StorePath(c.Store)
	switch {
	case c.TLSCert != "":
		return errors.New("domain obtains a certificate, and tls_cert provides one: set only one of them")
	case !kept:
		return errors.New("the certificate for domain cannot be kept with a store that relays share; set tls_cert and " +
			"tls_key, or end TLS in front of the relays")
	case !strings.Contains(c.Domain, ".") || strings.ContainsAny(c.Domain, "/: *"):
		return fmt.Errorf("cannot obtain a certificate for %q; write a domain such as relay.acme.dev", c.Domain)
	}
	return nil
}

// encryption returns the TLS configuration; nil if connections are not encrypted. A certificate for Domain is asked
// for with the client authority; nil means http.DefaultClient.
func (c Config) encryption(authority *http.Client) (*tls.Config, error) {
	switch {
	case c.Domain != "":
		store, _ := server.StorePath(c.Store)
		manager := autocert.Manager{
			Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(c.Domain),
			Cache:  autocert.DirCache(filepath.Join(filepath.Dir(store), "certificates")),
			Client: &acme.Client{DirectoryURL: c.ACMEDirectory, HTTPClient: authority},
		}
		return manager.TLSConfig(), nil
	case c.TLSCert != "":
		certificate, err := server.LoadCertificate(c.TLSCert, c.TLSKey)
		if err != nil {
			return nil, err
		}
		return certificate.Config(), nil
	}
	return nil, nil
}

// recovery builds the recovery's configuration from the relay's configuration and the environment.
func (c Config) recovery(sources map[string]server.Source) (recovery.Config, error) {
	github, err := c.github()
	if err != nil {
		return recovery.Config{}, err
	}
	config := recovery.Config{GitHub: github, PublicURL: c.PublicURL}
	if strings.HasPrefix(c.Store, "firestore:") {
		config.Lease = recovery.Lease
	}
	for _, text := range c.Recover {
		target, err := recovery.ParseTarget(text)
		if err != nil {
			return recovery.Config{}, fmt.Errorf("recover: %w", err)
		}
		config.Targets = append(config.Targets, target)
	}
	for name, s := range sources {
		if _, ok := s.(source.GitHub); ok {
			config.Sources = append(config.Sources, name)
		}
	}
	slices.Sort(config.Sources)
	if len(config.Targets) > 0 && len(config.Sources) == 0 {
		return recovery.Config{}, errors.New("this relay has no source of the kind github, which recover needs; add one")
	}
	return config, config.Validate()
}

// github returns the address and the credentials for GitHub, from the configuration and the environment.
func (c Config) github() (recovery.GitHub, error) {
	github := recovery.GitHub{API: c.GitHubAPI, Token: os.Getenv("GITHUB_TOKEN")}
	path := os.Getenv("RELAY_GITHUB_APP_KEY_FILE")
	if err := github.Validate(); err != nil || path == "" {
		return github, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return recovery.GitHub{}, fmt.Errorf("read the App's private key, which RELAY_GITHUB_APP_KEY_FILE names: %w", err)
	}
	if github.AppKey, err = appkey.Parse(text); err != nil {
		return recovery.GitHub{}, fmt.Errorf("read the App's private key %s: %w", path, err)
	}
	return github, nil
}
