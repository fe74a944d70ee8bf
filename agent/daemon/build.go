package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/merger"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
)

// New composes a daemon for one role from its configuration and checks at once
// what would otherwise fail later: the token, the identities, the engine. The
// returned function releases what the daemon holds, after Run.
func New(ctx context.Context, cfg config.Config, role verdict.Role, version string) (*Daemon, func() error, error) {
	agent, closeAgent, err := NewAgent(ctx, cfg, role, string(role), version)
	if err != nil {
		return nil, nil, err
	}
	d := &Daemon{Agent: agent, Sweep: cfg.Sweep.Duration(), Concurrency: cfg.Concurrency}
	if len(cfg.Repositories) == 0 {
		return nil, nil, errors.Join(errors.New("no repository is configured; list them under `repositories` or give --repo owner/name"), closeAgent())
	}
	for _, name := range cfg.Repositories {
		repo, err := forge.ParseRepo(name)
		if err != nil {
			return nil, nil, errors.Join(err, closeAgent())
		}
		d.Repos = append(d.Repos, repo)
	}
	if cfg.Relay.URL != "" {
		d.Follow = &relayFollower{url: cfg.Relay.URL, token: string(cfg.Relay.Token), repos: d.Repos, journal: agent.Journal}
	} else {
		zerolog.Ctx(ctx).Warn().Msg("no relay is configured; pull requests are only looked at in the periodic sweep")
	}
	return d, closeAgent, nil
}

// NewAgent composes an agent for one role. Two agents cannot share a journal,
// which is named by its owner: a daemon uses its role, a single command another
// name.
func NewAgent(ctx context.Context, cfg config.Config, role verdict.Role, owner, version string) (_ *Agent, closeAgent func() error, err error) {
	client, err := forge.New(forge.Config{APIURL: cfg.GitHub.APIURL, Token: string(cfg.GitHub.Token), Version: version})
	if err != nil {
		return nil, nil, err
	}
	self, err := client.Viewer(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("find out whose token this is: %w", err)
	}
	if err := CheckIdentity(role, self, cfg.Reviewers); err != nil {
		return nil, nil, err
	}
	scratch := filepath.Join(cfg.StateDir, "scratch", owner)
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the state directory: %w", err)
	}
	eng, err := newEngine(cfg, scratch)
	if err != nil {
		return nil, nil, err
	}
	if _, err := eng.Probe(ctx); err != nil {
		return nil, nil, err
	}
	rules, err := guidelines.Default()
	if err != nil {
		return nil, nil, err
	}
	log, err := journal.Open(filepath.Join(cfg.StateDir, "journal", owner))
	if err != nil {
		return nil, nil, err
	}
	trees := &worktree.Store{Root: filepath.Join(cfg.StateDir, "worktrees")}
	a := &Agent{Role: role, Config: cfg, Read: client, Journal: log, Caller: forge.NewSpeaker(client)}
	a.Reviewer = &reviewer.Reviewer{
		Worktrees: trees, Engine: eng, Guidelines: rules, Read: client, Post: forge.NewPoster(client), Remote: client.Remote,
		Model: cfg.Engine.Model, Timeout: cfg.Engine.Timeout.Duration(), IdleTimeout: cfg.Engine.IdleTimeout.Duration(), Scratch: scratch,
	}
	a.Author = &author.Author{
		Worktrees: trees, Engine: eng, Read: client, Remote: client.Remote,
		Identity: identity(cfg, self), Reviewers: cfg.Reviewers, Allow: cfg.Engine.Allow,
		Model: cfg.Engine.Model, Timeout: cfg.Engine.Timeout.Duration(), IdleTimeout: cfg.Engine.IdleTimeout.Duration(),
	}
	a.Merger = &merger.Merger{Read: client, Act: forge.NewMerger(client), Decide: a.Decide}
	return a, log.Close, nil
}

// CheckIdentity refuses a configuration in which one login would judge its own
// work, or in which verdicts would count for nothing.
func CheckIdentity(role verdict.Role, self string, reviewers []string) error {
	listed := slices.ContainsFunc(reviewers, func(r string) bool { return strings.EqualFold(r, self) })
	switch {
	case role == verdict.Author && len(reviewers) == 0:
		return errors.New("no reviewer is configured, so no approval would ever count; list the reviewer agent's login under `reviewers`")
	case role == verdict.Author && listed:
		return fmt.Errorf("this token belongs to %s, who is listed under `reviewers`: author and reviewer would be one and the same, and GitHub refuses self-approval; run the author with another login's token", self)
	case role == verdict.Reviewer && len(reviewers) > 0 && !listed:
		return fmt.Errorf("this token belongs to %s, who is not listed under `reviewers` (%s), so its verdicts would count for nothing; use the reviewer's own token, or add the login to the list", self, strings.Join(reviewers, ", "))
	}
	return nil
}

// newEngine makes the engine that the configuration names.
func newEngine(cfg config.Config, temp string) (engine.Engine, error) {
	if cfg.Engine.Name != "claude" {
		return nil, fmt.Errorf("there is no engine named %q; the one there is, is claude", cfg.Engine.Name)
	}
	return &claude.Engine{Command: cfg.Engine.Command, TempDir: temp}, nil
}

// identity is the author of the commits: the configured one, else the login
// with the address that GitHub attributes to it
// (https://docs.github.com/en/account-and-profile/reference/email-addresses-reference).
func identity(cfg config.Config, self string) worktree.Identity {
	id := worktree.Identity{Name: cfg.Author.Name, Email: cfg.Author.Email}
	if id.Name == "" {
		id.Name = self
	}
	if id.Email == "" {
		id.Email = self + "@users.noreply.github.com"
	}
	return id
}
