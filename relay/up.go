package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"touchstone/relay/event"
	"touchstone/relay/token"
	"touchstone/worktree/atomicfile"
	"touchstone/worktree/strictyaml"
)

// firstInvite is how long the invitation of the first administrator is valid.
const firstInvite = 24 * time.Hour

// lookupTimeout is how long the lookup of a domain's address may take.
const lookupTimeout = 5 * time.Second

func upCommand() *cobra.Command {
	var u setup
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Set up a relay and run it, in one step",
		Long: `Set up a relay and run it. The first time, this makes a directory with the
relay's settings, a secret for GitHub's webhooks and, with --domain, a
certificate that is renewed automatically (from Let's Encrypt, whose terms of
service this accepts). It prints the link with which the first administrator
joins, and the commands for the next steps. Running it again keeps everything
that exists; to change settings, edit relay.yaml in that directory.

Without --domain the relay listens only on this machine. With --service the
system runs it from now on; see touchstone-relay service.`,
		Example: `  touchstone-relay up --domain relay.acme.dev --reviewer acme-reviewer --service
  touchstone-relay up`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := u.prepare(cmd.Context()); err != nil {
				return err
			}
			config, err := u.settings(cmd)
			if err != nil {
				return err
			}
			// The link is printed only once, so do not print it before the relay can run.
			if err := u.free(cmd.Context(), config.Listen); err != nil {
				return err
			}
			if err := u.greet(cmd.Context(), cmd.OutOrStdout(), config); err != nil {
				return err
			}
			if u.asService {
				return u.install(cmd.Context(), cmd.OutOrStdout())
			}
			return serve(cmd.Context(), config, u.addressFile)
		},
	}
	cmd.Flags().StringVar(&u.domain, "domain", "",
		"the name under which others reach this machine, such as relay.acme.dev; its port 443 has to be open")
	cmd.Flags().StringArrayVar(&u.reviewers, "reviewer", nil,
		"a login whose reviews count: on the relay's page, and on each machine that joins (repeatable)")
	cmd.Flags().StringVar(&u.dir, "dir", "", "where to keep everything (default "+stateDir()+")")
	cmd.Flags().StringVar(&u.listen, "listen", "",
		"address to listen on; the first time it is kept (default :443 with --domain, and 127.0.0.1:8080 without)")
	cmd.Flags().BoolVar(&u.asService, "service", false, "run it as a system service from now on, as touchstone-relay service install does")
	cmd.Flags().StringVar(&u.addressFile, "address-file", "", "write the address to this file once the relay listens, as HOST:PORT")
	return cmd
}

// prepare creates the directory, the settings and the secret, unless they exist. It creates nothing for
// settings that cannot work.
func (u *setup) prepare(ctx context.Context) error {
	if err := u.find(); err != nil {
		return err
	}
	settings := map[string]any{
		"listen": "127.0.0.1:8080", "store": "sqlite:" + u.file("relay.db"),
		"sources": map[string]any{"github": map[string]any{"kind": "github", "secret_file": u.file("github-secret")}},
	}
	if len(u.reviewers) > 0 {
		settings["reviewers"] = u.reviewers
	}
	if u.domain != "" {
		settings["listen"], settings["domain"], settings["public_url"] = ":443", u.domain, "https://"+u.domain
	}
	if u.listen != "" {
		settings["listen"] = u.listen
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(u.file("relay.yaml")); errors.Is(err, fs.ErrNotExist) {
		planned := defaultConfig()
		if err := strictyaml.Decode(text, &planned); err != nil {
			return err
		}
		err := planned.validate()
		if err == nil {
			err = resolves(ctx, net.DefaultResolver.LookupHost, u.domain)
		}
		if err != nil {
			return usageError{err}
		}
		if err := free(ctx, planned.Listen); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return fmt.Errorf("create the relay's directory: %w; choose another one with --dir", err)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it cannot fail: https://pkg.go.dev/crypto/rand#Read
	if err := once(u.file("github-secret"), hex.EncodeToString(secret)+"\n"); err != nil {
		return err
	}
	return once(u.file("relay.yaml"), string(text))
}

// resolves reports a domain without an address. Without a network the address is unknown, which is not an
// error.
func resolves(ctx context.Context, lookup func(context.Context, string) ([]string, error), domain string) error {
	if !strings.Contains(domain, ".") { // there is no domain, or validate refuses it
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	var unknown *net.DNSError
	if _, err := lookup(ctx, domain); errors.As(err, &unknown) && unknown.IsNotFound {
		return fmt.Errorf("%s has no address in DNS, so a certificate cannot be obtained; point its DNS record at this machine first", domain)
	}
	return nil
}

// pointsElsewhere says that a domain does not lead to one of this machine's addresses, but to another machine
// or to a router in front of this one, which look the same from here. It is empty if the domain leads here or
// the lookup fails.
func pointsElsewhere(ctx context.Context, lookup func(context.Context, string) ([]string, error), local []net.Addr, domain string) string {
	if domain == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	hosts, err := lookup(ctx, domain)
	if err != nil || slices.ContainsFunc(hosts, func(host string) bool {
		return slices.ContainsFunc(local, func(a net.Addr) bool {
			network, ok := a.(*net.IPNet)
			return ok && network.IP.Equal(net.ParseIP(host))
		})
	}) {
		return ""
	}
	return fmt.Sprintf("%s points at %s, which is not an address of this machine; unless a router there forwards port 443 here, "+
		"no certificate can be obtained; point its DNS record at this machine", domain, strings.Join(hosts, " and "))
}

// free reports an address that cannot be listened on.
func free(ctx context.Context, address string) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return unheard(err)
	}
	return listener.Close()
}

// free reports an address that cannot be listened on. The relay may be there itself, as a service, which --service
// restarts.
func (u *setup) free(ctx context.Context, address string) error {
	taken := free(ctx, address)
	if taken == nil {
		return nil
	}
	if found, err := u.service(); err != nil {
		return taken
	} else if status, err := found.Status(ctx); err != nil || status != "active" {
		return taken
	}
	if u.asService {
		return nil
	}
	return errors.New("the relay runs already, as a service; see touchstone-relay service --help")
}

// once writes a file that only its owner may read, unless it exists.
func once(path, content string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.Write(path, []byte(content)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// greet prints what to do next, and the first time the link for the first administrator.
func (u *setup) greet(ctx context.Context, out io.Writer, config Config) error {
	public := strings.TrimSuffix(config.PublicURL, "/")
	here, hook := "", ""
	if public == "" {
		public = "http://" + reached(config.Listen)
		here, hook = " --url "+public, " --url https://WHERE-GITHUB-REACHES-IT/webhooks/github"
	}
	place := tokenPlace{config: u.file("relay.yaml")}
	code, err := place.firstAdministrator(ctx, config.Reviewers)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "relay     %s, all in %s\n", public, u.dir)
	if local, err := net.InterfaceAddrs(); err == nil {
		if elsewhere := pointsElsewhere(ctx, net.DefaultResolver.LookupHost, local, config.Domain); elsewhere != "" {
			fmt.Fprintln(out, "domain    "+elsewhere)
		}
	}
	if code != "" {
		fmt.Fprintf(out, "you       touchstone join '%s/join#%s'\n          works once, until this time tomorrow\n", public, code)
	}
	command := "touchstone-relay %s --config " + place.config + " %s\n"
	fmt.Fprintf(out, "webhook   GITHUB_TOKEN=… "+command, "hook install", "--repo OWNER/NAME"+hook)
	counts := ""
	if len(config.Reviewers) == 0 {
		counts = " --reviewer LOGIN"
	}
	fmt.Fprintf(out, "reviewer  "+command, "invite create", "--role reviewer --name reviewer --repo OWNER/NAME"+counts+here)
	fmt.Fprintf(out, "each dev  "+command, "invite create", "--name NAME --repo OWNER/NAME"+counts+here)
	return nil
}

// reached returns the address at which this machine reaches a relay that listens on an address.
func reached(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// firstAdministrator invites an administrator, unless there is one, or an unexpired invitation for one; then
// the code is empty. It revokes an invitation that has expired unused.
func (p tokenPlace) firstAdministrator(ctx context.Context, reviewers []string) (code string, err error) {
	return code, p.open(ctx, func(store token.Store) error {
		tokens, err := store.Load(ctx)
		if err != nil {
			return err
		}
		for _, t := range tokens {
			if t.Role == token.Admin && t.Revoked == nil && (t.Invite == nil || time.Now().Before(t.Invite.Expires)) {
				return nil
			}
		}
		if slices.ContainsFunc(tokens, func(t token.Token) bool { return t.Role == token.Admin && t.Invite == nil }) {
			return nil // the last administrator was revoked on purpose
		}
		var made token.Token
		if made, code, err = token.NewInvite("admin", event.ForAdmin, event.Filter{}, reviewers, firstInvite); err != nil {
			return err
		}
		return token.Add(ctx, store, made)
	})
}
