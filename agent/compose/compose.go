// Package compose builds an agent and its parts from a configuration: the daemon of a role, an agent for one
// act, its models, its GitHub client and its guidelines.
package compose

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/merger"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/remoteguidelines"
	"touchstone/agent/reviewer"
	"touchstone/agent/telemetry"
	"touchstone/agent/trust"
	"touchstone/agent/version"
	"touchstone/agent/worker"
	"touchstone/guidelines"
	"touchstone/relay/appkey"
	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
	"touchstone/worktree/erase"
)

// Repositories returns the configured repositories, each once: GitHub's names ignore case. None are an error.
func Repositories(cfg config.Config) (repos []forge.Repo, err error) {
	if len(cfg.Repositories) == 0 {
		return nil, config.ErrNoRepository
	}
	for _, name := range cfg.Repositories {
		repo, err := forge.ParseRepo(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(repos, func(known forge.Repo) bool { return strings.EqualFold(known.String(), repo.String()) }) {
			repos = append(repos, repo)
		}
	}
	return repos, nil
}

// New builds a daemon for one role from its configuration. It immediately checks what would otherwise fail
// later: the token, the identities, the engine. After Run, call the returned function to release the daemon's
// resources.
func New(ctx context.Context, cfg config.Config, role decide.Role) (*daemon.Daemon, func() error, error) {
	repos, err := Repositories(cfg)
	if err != nil {
		return nil, nil, err
	}
	choices := remoteconfig.Of(ctx, cfg)
	d := &daemon.Daemon{Settings: config.NewLive(cfg, choices), Sweep: cfg.Sweep.Duration(), Concurrency: cfg.Concurrency, Repos: repos}
	log, err := journal.Open(journalDir(cfg, role))
	if err != nil {
		return nil, nil, err
	}
	// This process holds the journal's lock, so no other process uses the files in this directory.
	tempDir := filepath.Join(cfg.StateDir, "tmp", string(role))
	err = errors.Join(erase.All(tempDir), os.MkdirAll(tempDir, 0o700))
	if err == nil {
		var ready engine.Version
		d.Agent, ready, err = newAgent(ctx, d.Settings, role, tempDir, true, func(models []journal.Rest) {
			d.Activity.Rest(names(models))
			if err := log.SetResting(models); err != nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("touchstone status will not show which models are not used for a while")
			}
		})
		if err == nil {
			logAccess(ctx, cfg, ready)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	log.Clock = d.Agent.Now
	d.Agent.Journal = log
	d.Self = event.Beacon{Role: string(role), Login: d.Agent.Login, Version: version.String()}
	if cfg.Relay.URL != "" {
		follower := &relayFollower{url: cfg.Relay.URL, token: string(cfg.Relay.Token), repos: d.Repos, journal: log}
		if cfg.Control {
			follower.choices = choices
		}
		d.Follow = follower
		d.Announce = (&client.Client{URL: cfg.Relay.URL, Token: string(cfg.Relay.Token)}).Announce
	} else {
		zerolog.Ctx(ctx).Warn().Msg("no relay is configured; pull requests are only looked at in the periodic sweep")
	}
	return d, log.Close, nil
}

// NewAgent builds an agent for one role, without a journal: any number of such agents may work on one
// machine, beside its daemon, and their costs count towards the daemon's day. tempDir is a directory for the
// files of running sessions; empty means the system's own. The login of an agent that posts nothing need not be
// one that may take the role.
func NewAgent(ctx context.Context, live *config.Live, role decide.Role, tempDir string, posts bool) (*worker.Agent, error) {
	a, _, err := newAgent(ctx, live, role, tempDir, posts, nil)
	if err == nil {
		a.Charge = func(usd float64) error { return journal.Charge(journalDir(live.Config(), role), a.Now(), usd) }
	}
	return a, err
}

// journalDir returns the directory of the journal of this machine's agent for a role.
func journalDir(cfg config.Config, role decide.Role) string {
	return filepath.Join(cfg.StateDir, "journal", string(role))
}

// NewMerger builds an author's agent that only merges, on a person's command. It needs no model, and so runs
// where none is installed.
func NewMerger(ctx context.Context, live *config.Live) (*worker.Agent, error) {
	client, self, err := identified(ctx, live.Config())
	if err == nil {
		err = CheckIdentity(decide.Author, self, live.Config().Reviewers)
	}
	if err != nil {
		return nil, err
	}
	a, err := Assemble(live, decide.Author, client, self, nil, "", true)
	if err != nil {
		return nil, err
	}
	a.ByHand = true
	return a, CheckReviewers(ctx, client, a.Trust, live.Config().Reviewers)
}

// newAgent is NewAgent, and also returns the model CLI's version. resting, if not nil, receives the models
// that are not used for now.
func newAgent(ctx context.Context, live *config.Live, role decide.Role, tempDir string, posts bool,
	resting func([]journal.Rest)) (*worker.Agent, engine.Version, error) {
	cfg := live.Config()
	client, self, err := identified(ctx, cfg)
	if err == nil && posts {
		err = CheckIdentity(role, self, cfg.Reviewers)
	}
	if err != nil {
		return nil, engine.Version{}, err
	}
	// These checks would otherwise fail after a session was paid for.
	if err := errors.Join(CheckModels(cfg.Engine, role), (&worktree.Store{}).CheckGit(ctx)); err != nil {
		return nil, engine.Version{}, err
	}
	models := Models(live, tempDir)
	models.Resting = resting
	eng := telemetry.Engine{Engine: models}
	ready, err := eng.Probe(ctx)
	if err != nil {
		return nil, ready, err
	}
	a, err := Assemble(live, role, client, self, eng, tempDir, posts)
	if err == nil {
		err = CheckReviewers(ctx, client, a.Trust, cfg.Reviewers)
	}
	if err == nil && role == decide.Author && a.Author.Identity.Email == "" {
		a.Author.Identity.Email, err = client.Address(ctx)
	}
	return a, ready, err
}

// Client returns a GitHub client for the configured identity: a token's login or an App.
func Client(cfg config.Config) (*forge.Client, error) {
	as := forge.Config{APIURL: cfg.GitHub.APIURL, Token: string(cfg.GitHub.Token), Renew: cfg.GitHub.Renew, Version: version.String()}
	if as.Token == "" && cfg.GitHub.AppID != 0 {
		var err error
		if as.App, err = App(cfg); err != nil {
			return nil, config.Mistake{Err: err}
		}
	}
	client, err := forge.New(as)
	if err != nil {
		return nil, config.Mistake{Err: err}
	}
	return client, nil
}

// App returns the configured GitHub App.
func App(cfg config.Config) (*forge.App, error) {
	key, err := appkey.Parse([]byte(cfg.GitHub.AppKey))
	if err != nil {
		return nil, fmt.Errorf("the file %s that github.app_key_file names: %w", cfg.GitHub.AppKeyFile, err)
	}
	return &forge.App{ID: cfg.GitHub.AppID, Key: key}, nil
}

// identified returns a client and the login as which it acts.
func identified(ctx context.Context, cfg config.Config) (*forge.Client, string, error) {
	client, err := Client(cfg)
	if err != nil {
		return nil, "", err
	}
	self, err := client.Viewer(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("look up the login of the token: %w", err)
	}
	return client, self, nil
}

// Assemble builds an agent that acts as the login self through a client of that login, with the models of an
// engine.
func Assemble(live *config.Live, role decide.Role, client *forge.Client, self string, eng engine.Engine,
	tempDir string, posts bool) (*worker.Agent, error) {
	rules, err := guidelines.Default()
	if err != nil {
		return nil, err
	}
	cfg := live.Config()
	layer, err := remoteguidelines.Guidelines(cfg.Guidelines, client)
	if err != nil {
		return nil, err
	}
	settings := func() config.Engine { return live.Config().Engine }
	trees := Trees(cfg)
	book, key, err := believe(live, role, self, posts, client.Now)
	if err != nil {
		return nil, err
	}
	a := &worker.Agent{Role: role, Login: self, Config: live.Config, Trust: book, Key: key,
		Read: client, Now: client.Now, Caller: forge.NewSpeaker(client),
		Approve: forge.NewPoster(client), Report: forge.NewReporter(client), Worktrees: trees, Remote: client.Remote}
	a.Reviewer = &reviewer.Reviewer{
		Examiner: reviewer.Examiner{
			Engine: eng, Guidelines: rules, Pages: cfg.GuidelinesURL, Layer: layer, TempDir: tempDir, Settings: settings,
		},
		Trust: book, Key: key,
		Worktrees: trees, Read: client, Upstream: client, Post: forge.NewPoster(client), Say: forge.NewSpeaker(client),
		Resolve: forge.NewResolver(client), Withdraw: forge.NewWithdrawer(client), Remote: client.Remote,
	}
	a.Author = &author.Author{
		Worktrees: trees, Engine: eng, Read: client, Remote: client.Remote,
		Identity:  worktree.Identity{Name: cmp.Or(cfg.Author.Name, self), Email: cfg.Author.Email},
		Reviewers: cfg.Reviewers, Trust: book, Key: key, Orders: a.Orders, Tried: a.Tried, Unwanted: a.Unwanted,
		Settings: settings, TempDir: tempDir, Private: cfg.Private(), Alone: cfg.Author.Network == config.NetworkGateway,
	}
	a.Merger = &merger.Merger{Read: client, Act: forge.NewMerger(client), Decider: a.Decider}
	return a, nil
}

// Trusted opens this machine's knowledge of reviewers, with the configured keys.
func Trusted(live *config.Live) (*trust.Book, error) {
	book, err := trust.Open(live.Config().StateDir)
	if err != nil {
		return nil, err
	}
	book.Settings = func() (map[string][]string, time.Time) {
		cfg := live.Config()
		return cfg.Keys, cfg.UnsignedUntil.Time()
	}
	return book, nil
}

// believe is Trusted, and also returns this machine's own key, which is recorded as that of the login if it posts.
func believe(live *config.Live, role decide.Role, self string, posts bool, now func() time.Time) (*trust.Book, ed25519.PrivateKey, error) {
	book, err := Trusted(live)
	if err != nil {
		return nil, nil, err
	}
	book.Now = now
	key, err := trust.Key(live.Config().StateDir)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !posts:
		return book, key, nil
	case role == decide.Author:
		return book, key, book.HoldAuthor(self, trust.Public(key))
	}
	return book, key, book.Hold(self, trust.Public(key))
}

// CheckReviewers looks up the reviewers' accounts. It refuses a login that belongs to another account than
// the one this machine knows.
func CheckReviewers(ctx context.Context, client *forge.Client, book *trust.Book, reviewers []string) error {
	for _, login := range reviewers {
		id, err := client.Account(ctx, login)
		if errors.Is(err, forge.ErrNotFound) {
			return fmt.Errorf("GitHub has no user %s, which is listed under `reviewers`; correct the login, or put the account's new "+
				"login in its place", login)
		}
		if err == nil {
			err = book.Account(login, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckIdentity refuses a configuration in which one login would judge its own work, or in which verdicts
// would not count.
func CheckIdentity(role decide.Role, self string, reviewers []string) error {
	listed := verdict.ListsLogin(reviewers, self)
	switch {
	case role == decide.Author && len(reviewers) == 0:
		return config.Mistake{Err: errors.New("no reviewer is configured, so no approval would ever count; list the reviewer agent's login " +
			"under `reviewers`")}
	case role == decide.Author && listed:
		return config.Mistake{Err: fmt.Errorf("this token belongs to %s, who is listed under `reviewers`: author and reviewer would be the "+
			"same login, and GitHub refuses self-approval; run the author with another login's token", self)}
	case role == decide.Reviewer && len(reviewers) > 0 && !listed:
		return config.Mistake{Err: fmt.Errorf("this token belongs to %s, who is not listed under `reviewers` (%s), so its verdicts would not "+
			"count; use the reviewer's own token, or add the login to the list; to have the reviewer's agent review a pull request, comment "+
			"/touchstone review on it", self, strings.Join(reviewers, ", "))}
	}
	return nil
}

// Trees returns the store of worktrees below the state directory.
func Trees(cfg config.Config) *worktree.Store {
	return &worktree.Store{
		Root:   filepath.Join(cfg.StateDir, "worktrees"),
		Clones: cfg.Worktrees.Clones, Partial: worktree.Partial(cfg.Worktrees.Partial),
	}
}
