package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/setup"
	"touchstone/agent/version"
	"touchstone/relay/client"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func newApp(s *cli.Settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "Let the reviewer act as a GitHub App instead of a machine user",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAppCreate(s))
	return cmd
}

func newAppCreate(s *cli.Settings) *cobra.Command {
	var a appCreator
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make the reviewer's GitHub App in the browser, and have this machine act as it",
		Long: `create opens a page on this machine that takes your browser to GitHub, where you agree to the
App as it is described: its permissions, events and webhook. Then you choose its repositories,
which this waits for. The private key stays on this machine, in a file beside agent.yaml that
only you can read; agent.yaml is told to act as the App from then on.

With a relay, the App's webhook leads there, in place of touchstone-relay hook install, and the
relay is given its secret. That takes an administrator's token in RELAY_TOKEN, which is not kept.

It can be broken off at any time and begun again: it goes on from where it was. Nobody can ask an
App for its review, so that it reviews every pull request of its repositories. Whether its
approvals count for a repository's rules is told by touchstone doctor.`,
		Example: `  touchstone app create --organization acme --repo acme/app
  RELAY_TOKEN=rly_… touchstone app create --organization acme`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			if cfg.Path() == "" {
				return errors.New("this user has no place for a configuration; name one with --config")
			}
			a.cfg, a.Dialog = cfg, cli.NewDialog(cmd)
			a.github = forge.Config{APIURL: cfg.GitHub.APIURL, Version: version.String()}
			return a.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.organization, "organization", "", "the organization whose App it is to be (default: who is signed in to GitHub)")
	flags.StringVar(&a.name, "name", "", "what the App is called on GitHub, which has each name once (default touchstone of the organization)")
	flags.BoolVar(&a.noBrowser, "no-browser", false, "only print the page's address, and open no browser")
	a.wait = cli.Span(15 * time.Minute)
	flags.Var(&a.wait, "wait", "how long to wait for what you do in the browser")
	return cmd
}

// appCreator makes the App, or goes on with the one that is there.
type appCreator struct {
	*cli.Dialog
	cfg                config.Config
	github             forge.Config
	organization, name string
	noBrowser          bool
	wait               cli.Span

	relay  *client.Client // nil without one
	source client.AppSource
}

func (a *appCreator) run(cmd *cobra.Command) error {
	late := fmt.Errorf("what there is to do in the browser was not done within %s; run this again, it goes on from where it was",
		time.Duration(a.wait))
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), time.Duration(a.wait), late)
	defer cancel()
	if err := a.findRelay(ctx); err != nil {
		return cli.Usage(cmd, err)
	}
	app, err := a.existing(ctx)
	if err == nil && app == nil {
		app, err = a.create(ctx)
	}
	if err == nil {
		err = a.connect(ctx, app)
	}
	if ctx.Err() != nil && cmd.Context().Err() == nil {
		return context.Cause(ctx)
	}
	return err
}

// findRelay asks the relay where an App's webhook leads, with the token that it takes to give it the secret later.
func (a *appCreator) findRelay(ctx context.Context) error {
	if a.cfg.Relay.URL == "" {
		return nil
	}
	a.relay = &client.Client{URL: a.cfg.Relay.URL, Token: string(a.cfg.Relay.Token)}
	sources, err := a.relay.AppSources(ctx)
	refused := (*client.StatusError)(nil)
	switch {
	case errors.As(err, &refused) && (refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden):
		return errors.New("the relay takes an App's webhook from an administrator alone: run this with an administrator's token in RELAY_TOKEN")
	case errors.As(err, &refused) && refused.Code == http.StatusNotFound:
		return errors.New("the relay is older than this program and knows no Apps: upgrade it first")
	case err != nil:
		return err
	case len(sources) == 0:
		return errors.New("the relay has no source of GitHub's: add one to relay.yaml")
	}
	a.source = sources[max(0, slices.IndexFunc(sources, func(s client.AppSource) bool { return s.Name == "github" }))]
	if onLoopback(a.source.URL) && !onLoopback(a.cfg.GitHub.APIURL) {
		return fmt.Errorf("GitHub cannot reach %s: set public_url in relay.yaml to where others reach the relay", a.source.URL)
	}
	return nil
}

func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// browse opens an address in the browser, once: from our page GitHub leads on by itself.
func (a *appCreator) browse(ctx context.Context, address string) {
	if !a.noBrowser {
		_ = setup.Browse(ctx, address) // it is there to be opened by hand
	}
	a.noBrowser = true
}

// keyFile is what the private key of an App is called, beside agent.yaml.
var keyFile = regexp.MustCompile(`^github-app-([0-9]+)\.pem$`)

// existing is the App that agent.yaml names, or one whose key a run before left beside it when it was broken
// off; nil without either.
func (a *appCreator) existing(ctx context.Context) (*forge.AppClient, error) {
	if a.cfg.GitHub.AppID != 0 {
		a.Say("this machine acts as the App %d already", a.cfg.GitHub.AppID)
		return a.appWithKey(a.cfg.GitHub.AppID, string(a.cfg.GitHub.AppKey))
	}
	dir := filepath.Dir(a.cfg.Path())
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, file := range files {
		id := keyFile.FindStringSubmatch(file.Name())
		if id == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		number, _ := strconv.ParseInt(id[1], 10, 64)
		app, err := a.appWithKey(number, string(text))
		if err != nil {
			continue // it was cut off, and is of no use
		}
		if _, err = app.Info(ctx); errors.Is(err, forge.ErrUnauthorized) || errors.Is(err, forge.ErrNotFound) {
			continue // the App is gone
		} else if err != nil {
			return nil, err
		}
		a.Say("a run before has made the App %d, with which this goes on", number)
		return app, a.write(number)
	}
	return nil, nil
}

func (a *appCreator) appWithKey(id int64, key string) (*forge.AppClient, error) {
	cfg := a.cfg
	cfg.GitHub.AppID, cfg.GitHub.AppKey = id, config.Secret(key)
	app, err := daemon.App(cfg)
	if err != nil {
		return nil, err
	}
	as := a.github
	as.App = app
	return forge.NewAppClient(as)
}

// create has the person make the App. All that can fail on this machine does so before.
func (a *appCreator) create(ctx context.Context) (made *forge.AppClient, err error) {
	if err := setup.Check(a.cfg.Path(), a.changes(1)); err != nil {
		return nil, err
	}
	name := cmp.Or(a.name, "touchstone "+cmp.Or(a.organization, "of "+strconv.FormatInt(time.Now().Unix(), 36)))
	flow := setup.AppFlow{
		GitHub: a.github, Organization: a.organization,
		Manifest: func(redirect string) forge.Manifest {
			return forge.ReviewerManifest(name, cmp.Or(a.cfg.Relay.URL, "https://github.com/"), redirect, a.source.URL)
		},
		Ready: func(page string) {
			a.Say("make the App in your browser, at %s", page)
			a.browse(ctx, page)
		},
		Take: func(app forge.Registered) error {
			if err := setup.Save(a.keyPath(app.ID), []byte(app.KeyPEM)); err != nil {
				return err
			}
			a.Say("the App %d is made; its key is in %s", app.ID, a.keyPath(app.ID))
			if made, err = a.appWithKey(app.ID, app.KeyPEM); err != nil {
				return err
			}
			return a.write(app.ID)
		},
	}
	return made, flow.Run(ctx)
}

func (a *appCreator) keyPath(id int64) string {
	return filepath.Join(filepath.Dir(a.cfg.Path()), fmt.Sprintf("github-app-%d.pem", id))
}

// changes are the settings by which this machine acts as an App.
func (a *appCreator) changes(id int64) []setup.Change {
	all := []setup.Change{
		{Key: "github.app_id", Value: id}, {Key: "github.app_key_file", Value: filepath.Base(a.keyPath(id))},
		{Key: "review", Value: config.ReviewAll},
	}
	if a.cfg.GitHub.TokenFile != "" {
		all = append(all, setup.Change{Key: "github.token_file", Value: ""})
	}
	if len(a.cfg.GitHub.TokenCommand) > 0 {
		all = append(all, setup.Change{Key: "github.token_command", Value: []string{}})
	}
	return all
}

func (a *appCreator) write(id int64) error {
	return a.tell(setup.Write(a.cfg.Path(), a.changes(id)))
}

func (a *appCreator) tell(said []string, err error) error {
	for _, sentence := range said {
		a.Say("  %s", sentence)
	}
	return err
}

// connect has the relay believe the App's webhook, waits until it is installed, and checks it as doctor does. Done
// twice it does no harm: the App and the relay then have another secret.
func (a *appCreator) connect(ctx context.Context, app *forge.AppClient) error {
	info, err := app.Info(ctx)
	if err != nil {
		return err
	}
	if a.relay != nil {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // it cannot fail: https://pkg.go.dev/crypto/rand#Read
		// The relay first: what GitHub sends right after is believed then.
		if err := a.relay.SetAppSecret(ctx, a.source.Name, hex.EncodeToString(secret)); err != nil {
			return err
		}
		if err := app.SetHook(ctx, a.source.URL, hex.EncodeToString(secret)); err != nil {
			return err
		}
		a.Say("its webhook leads to %s, which has its secret", a.source.URL)
	}
	if len(a.cfg.Reviewers) > 0 && !verdict.ListsLogin(a.cfg.Reviewers, info.Login) {
		said, err := setup.Write(a.cfg.Path(), []setup.Change{{Key: "reviewers", Value: append(slices.Clone(a.cfg.Reviewers), info.Login)}})
		if err := a.tell(said, err); err != nil {
			return err
		}
	}
	for _, name := range a.cfg.Repositories {
		if err := a.awaitInstallation(ctx, app, info, name); err != nil {
			return err
		}
	}
	if os.Getenv("GITHUB_TOKEN") != "" {
		a.Say("GITHUB_TOKEN is set here and wins over the App: take it out of the environment that the agent starts in")
	}
	a.Say("list %s under `reviewers` on each author's machine; see `touchstone doctor --mode %s`", info.Login, decide.Reviewer)
	return nil
}

// installationCheck is the time between two looks for the installation.
const installationCheck = 2 * time.Second

// awaitInstallation waits until the App can act in a repository.
func (a *appCreator) awaitInstallation(ctx context.Context, app *forge.AppClient, info forge.AppInfo, name string) error {
	repo, err := forge.ParseRepo(name)
	if err != nil {
		return err
	}
	for told := false; ; told = true {
		err := app.Installed(ctx, repo)
		switch {
		case err == nil:
			a.Say("%s is installed on %s", info.Login, repo)
			return nil
		case !errors.Is(err, forge.ErrNotFound):
			return err
		case !told:
			a.Say("install it on %s, at %s", repo, info.InstallURL)
			a.browse(ctx, info.InstallURL)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(installationCheck):
		}
	}
}
