package wizard

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/doctor"
	"touchstone/agent/forge"
	"touchstone/agent/setup"
	"touchstone/agent/terminal"
	"touchstone/relay/client"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
	"touchstone/worktree/span"
)

// App creates the reviewer's GitHub App, or continues with an existing one.
type App struct {
	*cli.Dialog
	Config config.Config
	// GitHub is where the App is created.
	GitHub forge.Config
	// Organization owns the App; empty means the account that is signed in to GitHub. Name is the App's name;
	// empty means a generated one.
	Organization, Name string
	// NoBrowser only prints the page's address.
	NoBrowser bool
	// Wait bounds how long a person may take in the browser.
	Wait span.Duration

	relay  *client.Client // nil without a relay
	source client.AppSource
}

// Run creates the App, connects it with the relay and waits until it is installed.
func (a *App) Run(cmd *cobra.Command) error {
	late := fmt.Errorf("the steps in the browser were not done within %s; run this again, it continues from there",
		time.Duration(a.Wait))
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), time.Duration(a.Wait), late)
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

// findRelay asks the relay for the address of an App's webhook. It uses the token that is needed later to
// give the relay the secret.
func (a *App) findRelay(ctx context.Context) error {
	if a.Config.Relay.URL == "" {
		return nil
	}
	a.relay = &client.Client{URL: a.Config.Relay.URL, Token: string(a.Config.Relay.Token)}
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
		return errors.New("the relay has no GitHub source; add one to relay.yaml")
	}
	a.source = sources[max(0, slices.IndexFunc(sources, func(s client.AppSource) bool { return s.Name == "github" }))]
	if onLoopback(a.source.URL) && !onLoopback(a.Config.GitHub.APIURL) {
		return fmt.Errorf("GitHub cannot reach %s: set public_url in relay.yaml to where others reach the relay", a.source.URL)
	}
	return nil
}

func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && forge.Loopback(u.Hostname())
}

// browse opens an address in the browser, once: after our page, GitHub redirects by itself.
func (a *App) browse(ctx context.Context, address string) {
	if !a.NoBrowser {
		_ = setup.Browse(ctx, address) // the person can open it by hand
	}
	a.NoBrowser = true
}

// keyFile matches the name of an App's private key, beside agent.yaml.
var keyFile = regexp.MustCompile(`^github-app-([0-9]+)\.pem$`)

// existing returns the App that agent.yaml names, or one whose key an interrupted run left beside agent.yaml;
// nil if there is neither, or they were deleted on GitHub.
func (a *App) existing(ctx context.Context) (*forge.AppClient, error) {
	if id := a.Config.GitHub.AppID; id != 0 {
		app, err := a.appWithKey(id, string(a.Config.GitHub.AppKey))
		if err == nil {
			_, err = app.Info(ctx)
		}
		switch {
		case err == nil:
			a.Say("this machine acts as the App %d already", id)
			return app, nil
		case !errors.Is(err, forge.ErrNotFound):
			return nil, err
		}
		a.Say("GitHub does not know the App %d any more", id)
	}
	dir := filepath.Dir(a.Config.Path())
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
			continue // it was truncated and is useless
		}
		if _, err = app.Info(ctx); errors.Is(err, forge.ErrUnauthorized) || errors.Is(err, forge.ErrNotFound) {
			continue // the App was deleted
		} else if err != nil {
			return nil, err
		}
		a.Say("an earlier run created the App %d; this run uses it", number)
		return app, a.write(number)
	}
	return nil, nil
}

func (a *App) appWithKey(id int64, key string) (*forge.AppClient, error) {
	cfg := a.Config
	cfg.GitHub.AppID, cfg.GitHub.AppKey = id, config.Secret(key)
	app, err := compose.App(cfg)
	if err != nil {
		return nil, err
	}
	as := a.GitHub
	as.App = app
	return forge.NewAppClient(as)
}

// create has the person create the App. Everything that can fail on this machine is checked before.
func (a *App) create(ctx context.Context) (made *forge.AppClient, err error) {
	if err := setup.Check(a.Config.Path(), a.changes(1)); err != nil {
		return nil, err
	}
	name := cmp.Or(a.Name, "touchstone "+cmp.Or(a.Organization, "of "+strconv.FormatInt(time.Now().Unix(), 36)))
	flow := setup.AppFlow{
		GitHub: a.GitHub, Organization: a.Organization,
		Manifest: func(redirect string) forge.Manifest {
			return forge.ReviewerManifest(name, cmp.Or(a.Config.Relay.URL, "https://github.com/"), redirect, a.source.URL)
		},
		Ready: func(page string) {
			a.Say("make the App in your browser, at %s", page)
			a.browse(ctx, page)
		},
		Take: func(app forge.Registered) error {
			if err := setup.Save(a.keyPath(app.ID), []byte(app.KeyPEM)); err != nil {
				return err
			}
			a.Say("the App %d of %s is made; its key is in %s", app.ID, terminal.Plain(app.Owner), a.keyPath(app.ID))
			if made, err = a.appWithKey(app.ID, app.KeyPEM); err != nil {
				return err
			}
			return a.write(app.ID)
		},
	}
	return made, flow.Run(ctx)
}

func (a *App) keyPath(id int64) string {
	return filepath.Join(filepath.Dir(a.Config.Path()), fmt.Sprintf("github-app-%d.pem", id))
}

// changes returns the settings by which this machine acts as an App.
func (a *App) changes(id int64) []setup.Change {
	all := []setup.Change{
		{Key: "github.app_id", Value: id}, {Key: "github.app_key_file", Value: filepath.Base(a.keyPath(id))},
		{Key: "review", Value: config.ReviewAll},
	}
	if a.Config.GitHub.TokenFile != "" {
		all = append(all, setup.Change{Key: "github.token_file", Value: ""})
	}
	if len(a.Config.GitHub.TokenCommand) > 0 {
		all = append(all, setup.Change{Key: "github.token_command", Value: []string{}})
	}
	return all
}

func (a *App) write(id int64) error {
	return a.report(setup.Write(a.Config.Path(), a.changes(id)))
}

func (a *App) report(said []string, err error) error {
	for _, sentence := range said {
		a.Say("  %s", sentence)
	}
	return err
}

// connect makes the relay accept the App's webhook, waits until the App is installed, and starts its agent.
// It may be repeated: the App and the relay then get another secret.
func (a *App) connect(ctx context.Context, app *forge.AppClient) error {
	info, err := app.Info(ctx)
	if err != nil {
		return err
	}
	if a.relay != nil {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // it cannot fail: https://pkg.go.dev/crypto/rand#Read
		// The relay first: it then accepts what GitHub sends right afterwards.
		if err := a.relay.SetAppSecret(ctx, a.source.Name, hex.EncodeToString(secret)); err != nil {
			return err
		}
		if err := app.SetHook(ctx, a.source.URL, hex.EncodeToString(secret)); err != nil {
			return err
		}
		a.Say("its webhook leads to %s, which has its secret", a.source.URL)
	}
	if len(a.Config.Reviewers) > 0 && !verdict.ListsLogin(a.Config.Reviewers, info.Login) {
		said, err := setup.Write(a.Config.Path(), []setup.Change{{Key: "reviewers", Value: append(slices.Clone(a.Config.Reviewers), info.Login)}})
		if err := a.report(said, err); err != nil {
			return err
		}
	}
	for _, name := range a.Config.Repositories {
		if err := a.awaitInstallation(ctx, app, info, name); err != nil {
			return err
		}
	}
	if !verdict.ListsLogin(a.Config.Reviewers, info.Login) {
		a.Say("list %s under `reviewers` on each author's machine, and in relay.yaml", info.Login)
	}
	return start(ctx, a.Dialog, a.Config.Path(), decide.Reviewer, false)
}

// installationCheck is the time between two checks for the installation.
const installationCheck = 2 * time.Second

// awaitInstallation waits until the App can act in a repository.
func (a *App) awaitInstallation(ctx context.Context, app *forge.AppClient, info forge.AppInfo, name string) error {
	repo, err := forge.ParseRepo(name)
	if err != nil {
		return err
	}
	for told := false; ; told = true {
		unsent, err := app.Installed(ctx, repo)
		switch {
		case err == nil:
			a.Say("%s is installed on %s", info.Login, repo)
			if a.relay != nil && len(unsent) > 0 {
				a.Say("%s", doctor.Unsent(unsent))
			}
			return nil
		case !errors.Is(err, forge.ErrNotFound):
			return err
		case !told:
			a.Say("install it on %s, at %s", repo, info.InstallURL)
			if !strings.EqualFold(info.Owner, repo.Owner) { // the manifest makes it private
				a.Say("the App belongs to %s, and GitHub offers a private App to its owner alone: if %s is not offered, delete the App in its "+
					"settings on GitHub, and run this again with --organization %s", terminal.Plain(info.Owner), repo.Owner, repo.Owner)
			}
			a.browse(ctx, info.InstallURL)
		}
		if !pause.For(ctx, installationCheck) {
			return context.Cause(ctx)
		}
	}
}
