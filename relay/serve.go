package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"touchstone/relay/recovery"
)

// serveHelp is what a newcomer needs to set up a relay.
const serveHelp = `Run the relay until SIGINT or SIGTERM. Webhooks that are arriving then are still
answered.

  POST /webhooks/github  the address for the webhook on GitHub, JSON or form.
                         RELAY_GITHUB_SECRET holds its secret.
  GET  /events           the stream. Query: source, type, repo (repeatable, repo
                         takes globs such as acme/*), after=<cursor>|oldest|now.
                         A Last-Event-ID header resumes after that event.
  GET  /                 the page: whose turn each pull request is, and why
  GET  /healthz          the process is alive
  GET  /readyz           the store can be reached and written

Without access tokens (touchstone-relay token create makes them), everybody on
this machine may read, and the relay listens only on loopback addresses. The
settings can also be in a file; flags override it:

  listen: 0.0.0.0:8443
  tls_cert: /etc/relay/cert.pem   # read again when they change
  tls_key: /etc/relay/key.pem
  public_url: https://relay.example.com
  trusted_proxies: [10.0.0.7]     # no network with clients in it
  store: sqlite:relay.db
  retention: 30d
  allow_unsigned: [ci]
  recover: [acme/app, acme]
  reviewers: [acme-reviewer]      # their reviews count on the page
  needs_human: needs-human
  sources:                        # each is an endpoint, /webhooks/<name>
    github:
      kind: github
      secret_env: [RELAY_GITHUB_SECRET, OLD_SECRET]   # two while changing over
    alerts:
      kind: grafana               # auth: hmac, basic with user, bearer
      secret_file: /run/secrets/grafana
    billing:
      kind: standard              # Standard Webhooks
      secret_env: BILLING_SECRET
    ci:
      kind: generic               # auth: hmac with header, prefix, encoding,
                                  # hash; or bearer
      header: X-Signature-256
      prefix: sha256=
      type_header: X-Event
      secret_env: CI_SECRET

With --recover the relay compares the deliveries that GitHub lists with its log
when it starts and every ten minutes, and brings in what is missing; see
touchstone-relay recover --help. GITHUB_TOKEN holds a token with the permission
Webhooks, read and write. For the webhook of a GitHub App,
RELAY_GITHUB_APP_KEY_FILE names the file with its private key.`

func serveCommand() *cobra.Command {
	config := defaultConfig()
	var configFile, addressFile string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the relay until SIGINT or SIGTERM",
		Long:  serveHelp,
		Example: `  touchstone-relay serve
  touchstone-relay serve --store sqlite:/var/lib/relay/relay.db --retention 90d
  touchstone-relay serve --listen 127.0.0.1:0 --address-file relay.address`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if configFile != "" {
				if err := config.loadUnder(cmd.Flags(), configFile); err != nil {
					return usageError{errors.Join(err, config.validateServer())}
				}
			}
			if err := config.validate(); err != nil {
				return usageError{err}
			}
			return serve(cmd.Context(), config, addressFile)
		},
	}
	cmd.Flags().StringVar(&config.Listen, "listen", config.Listen, "address to listen on; port 0 picks a free one")
	cmd.Flags().StringVar(&config.Store, "store", config.Store,
		"where to keep the log: sqlite:PATH, or firestore:PROJECT[/DATABASE] to share it with other relays")
	cmd.Flags().Var(&config.Retention, "retention", "how long to keep events; 0 keeps them all")
	cmd.Flags().StringSliceVar(&config.AllowUnsigned, "allow-unsigned", nil, "accept this source's webhooks without a secret")
	cmd.Flags().StringVar(&config.TLSCert, "tls-cert", "", "encrypt connections: the certificate with its chain, a PEM file")
	cmd.Flags().StringVar(&config.TLSKey, "tls-key", "", "the certificate's private key, a PEM file")
	cmd.Flags().StringSliceVar(&config.Recover, "recover", nil,
		"look after the webhooks of acme/app (a repository), acme (an organization) or app:12345 (a GitHub App) (repeatable)")
	cmd.Flags().StringVar(&config.PublicURL, "public-url", "",
		"the relay's public address, such as https://relay.example.com: invitations lead there, and only webhooks that do are "+
			"looked after")
	cmd.Flags().StringSliceVar(&config.TrustedProxies, "trusted-proxy", nil,
		"an address or network, such as 10.0.0.0/8, of the proxies in front of the relay (repeatable)")
	cmd.Flags().StringSliceVar(&config.Reviewers, "reviewer", nil, "a login whose reviews count on the page at / (repeatable)")
	cmd.Flags().StringVar(&config.NeedsHuman, "needs-human", config.NeedsHuman,
		"the label with which the agents call a person; their labels.needs_human")
	cmd.Flags().StringVar(&config.GitHubAPI, "github-api", "", "address of GitHub's REST API (default "+recovery.DefaultAPI+")")
	cmd.Flags().StringVar(&configFile, "config", "", "read settings from this YAML file")
	cmd.Flags().StringVar(&addressFile, "address-file", "", "write the address to this file once the relay listens, as HOST:PORT")
	return cmd
}

// loadUnder loads the file into the configuration, under the flags on the command line. Flags are bound to
// the same fields, so it sets them again afterwards.
func (c *Config) loadUnder(flags *pflag.FlagSet, file string) error {
	var again []func() error
	flags.Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values := list.GetSlice()
			again = append(again, func() error { return list.Replace(values) })
			return
		}
		text := f.Value.String()
		again = append(again, func() error { return f.Value.Set(text) })
	})
	err := c.load(file)
	for _, set := range again {
		err = errors.Join(err, set())
	}
	return err
}
