// Package config owns the settings: those of one machine's agent, read from agent.yaml and the environment,
// and those that a repository sets for all its agents. It defines the settings and their defaults, and
// rejects invalid ones. It stores nothing.
package config

import (
	_ "embed"
	"time"
)

// Example is an annotated agent.yaml: every key, and what holds where it is left out.
//
//go:embed agent.example.yaml
var Example string

// Values of Config.Review.
const (
	// ReviewRequested reviews the pull requests for which this login's review was requested.
	ReviewRequested = "requested"
	// ReviewAll reviews every pull request of the repositories.
	ReviewAll = "all"
)

// Values of on/off settings.
const (
	On   = "on"
	Off  = "off"
	Auto = "auto"
	// Required is like Auto, but refuses to run if Auto would find nothing to use.
	Required = "required"
)

// Config holds an agent's settings. The comments give each setting's default; Example is an annotated file.
type Config struct {
	GitHub GitHub `yaml:"github"`
	Relay  Relay  `yaml:"relay"`
	// Repositories are the repositories to work on, each as owner/name. None by default.
	Repositories []string `yaml:"repositories"`
	// Reviewers are the logins whose verdicts count. None by default.
	Reviewers []string `yaml:"reviewers"`
	// Keys are the public keys that verify the reviewers' records, by login: each belongs to one of the
	// reviewer's machines. None by default: the first key that the agent sees is trusted from then on.
	Keys map[string][]string `yaml:"keys"`
	// UnsignedUntil is the day from which unsigned records no longer count. By default, they stop counting
	// once a key of their reviewer is known.
	UnsignedUntil Date `yaml:"unsigned_until"`
	// Review is ReviewRequested, the default, or ReviewAll.
	Review string `yaml:"review"`
	// Guidelines is the place of an organization's own guideline documents, which override the built-in ones
	// and are overridden by a repository's: a directory, which Load makes absolute, or a repository as
	// owner/name or owner/name@ref. None by default.
	Guidelines string `yaml:"guidelines"`
	// GuidelinesURL is the https address of a folder with the built-in documents of this version. Reviews link
	// the built-in rows that they cite to it. None by default.
	GuidelinesURL string  `yaml:"guidelines_url"`
	Merge         Merge   `yaml:"merge"`
	Rounds        Rounds  `yaml:"rounds"`
	Budgets       Budgets `yaml:"budgets"`
	// Sweep is the interval between two scans of all open pull requests: the maximum delay of an agent that
	// missed events. 5m by default.
	Sweep Duration `yaml:"sweep"`
	// Concurrency is how many pull requests the agent works on at once; 3 by default.
	Concurrency int    `yaml:"concurrency"`
	Engine      Engine `yaml:"engine"`
	Prices      Prices `yaml:"prices"`
	// Control lets the relay's administrators choose engines and models for this agent, as for all others;
	// true by default. They can set nothing else.
	Control bool    `yaml:"control"`
	Author  Author  `yaml:"author"`
	Rights  Rights  `yaml:"rights"`
	Labels  Labels  `yaml:"labels"`
	Notify  Notify  `yaml:"notify"`
	Metrics Metrics `yaml:"metrics"`
	// StateDir is the directory of worktrees, mirrors and journals. The default is
	// $XDG_STATE_HOME/touchstone, or ~/.local/state/touchstone if that variable is not set, and
	// %LOCALAPPDATA%\touchstone on Windows.
	StateDir  string    `yaml:"state_dir"`
	Worktrees Worktrees `yaml:"worktrees"`
	Log       Log       `yaml:"log"`

	// Warnings are sentences about settings that work but should be changed. Load adds them.
	Warnings []string `yaml:"-"`

	// path is the file that was read, or would have been if it existed; stamp is its state before it was
	// read.
	path, stamp string
	// written reports whether the file contained more than comments.
	written bool
}

// Path returns the absolute path of the file that Load read, or would have read if it existed; empty if this
// user has no place for a configuration file.
func (c Config) Path() string { return c.path }

// GitHub holds the address of GitHub and the credentials for it.
type GitHub struct {
	// APIURL is the root of the REST API; https://api.github.com/ by default, https://HOST/api/v3/ for a
	// GitHub Enterprise Server, and https://api.NAME.ghe.com/ for data residency.
	APIURL string `yaml:"api_url"`
	// TokenFile is the path of a file that contains only the token. None by default.
	TokenFile string `yaml:"token_file"`
	// TokenCommand is a program with its arguments that prints the token, such as gh auth token. None by
	// default.
	TokenCommand []string `yaml:"token_command"`
	// AppID is the number of a GitHub App that acts in place of a token's login. The default, 0, means none.
	AppID int64 `yaml:"app_id"`
	// AppKeyFile is the path of a file that contains only the App's private key. None by default.
	AppKeyFile string `yaml:"app_key_file"`
	// Token comes from GITHUB_TOKEN or, if that is empty, from TokenFile, or else from TokenCommand. It takes
	// precedence over the App.
	Token Secret `yaml:"-"`
	// Renew says where Token comes from and what to do if GitHub rejects it.
	Renew string `yaml:"-"`
	// AppKey comes from AppKeyFile.
	AppKey Secret `yaml:"-"`
}

// Relay is the source of events.
type Relay struct {
	// URL is the relay's address. Without one, which is the default, the agent looks at pull requests only in
	// the sweep.
	URL string `yaml:"url"`
	// TokenFile is the path of a file that contains only the token. None by default.
	TokenFile string `yaml:"token_file"`
	// Token comes from RELAY_TOKEN or, if that is empty, from TokenFile.
	Token Secret `yaml:"-"`
}

// Merge says when an author's agent merges a pull request.
type Merge struct {
	// Auto squash-merges pull requests that are approved and whose checks pass; true by default.
	Auto bool `yaml:"auto"`
	// RequireChecks merges only pull requests that at least one check passed; true by default.
	RequireChecks bool `yaml:"require_checks"`
	// Forks merges pull requests from forks as well; false by default. Even then, no agent pushes to a fork
	// or deletes one of its branches.
	Forks bool `yaml:"forks"`
	// DeleteBranch deletes the head branch after a merge, if it is in the same repository and no other open
	// pull request has it as its base; false by default.
	DeleteBranch bool `yaml:"delete_branch"`
}

// Rounds limits the tries before a person is called.
type Rounds struct {
	// Max is the maximum number of reviews of a pull request; 15 by default.
	Max int `yaml:"max"`
	// Attempts is the maximum number of failed sessions on one commit; 3 by default.
	Attempts int `yaml:"attempts"`
	// Backoff is the wait before another attempt on the same commit. It doubles with each attempt; 30s by
	// default.
	Backoff Duration `yaml:"backoff"`
}

// Budgets limit the cost of sessions, in US dollars, and their time, before a person is called. 0 means no
// limit.
type Budgets struct {
	// Round is the limit for one review or one fix, all its sessions together; 10 by default.
	Round float64 `yaml:"round"`
	// PullRequest is the limit for all rounds of a pull request; 50 by default.
	PullRequest float64 `yaml:"pull_request"`
	// Day is the limit for one role's agent on this machine, from midnight to midnight; 200 by default.
	Day float64 `yaml:"day"`
	// RoundTime limits the time of one round's sessions; 2h by default.
	RoundTime Duration `yaml:"round_time"`
	// PullRequestTime limits the time of the sessions of all rounds; 12h by default.
	PullRequestTime Duration `yaml:"pull_request_time"`
}

// Metrics says where this agent's metrics can be read.
type Metrics struct {
	// Listen is a loopback address for Prometheus, such as 127.0.0.1:9477. None by default.
	Listen string `yaml:"listen"`
}

// Author holds the author of commits, the author agent's pause after a person's push, the network access of
// its sessions and whether it applies nits. Name and Email may be empty, which is the default: the name is
// then the token's login, and the address the one that GitHub attributes to it.
type Author struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
	// Pause is how long the agent leaves a branch alone after a person pushed to it; 10m by default, 0s for
	// no wait.
	Pause Duration `yaml:"pause"`
	// Nits applies, before a merge, an approval's nits whose suggestions replace whole lines; true by
	// default.
	Nits bool `yaml:"nits"`
	// Network is NetworkFull, the default, since builds download their dependencies; or NetworkGateway, in
	// which a session connects to its gateway only, and a verify command to nothing.
	Network string `yaml:"network"`
}

// Values of Author.Network.
const (
	NetworkFull    = "full"
	NetworkGateway = "gateway"
)

// The rights on a repository that an order may require, as GitHub grants them
// (https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization).
const (
	RightWrite    = "write"
	RightMaintain = "maintain"
	RightAdmin    = "admin"
)

// Rights are the minimum rights on a repository of a person whose order sets aside something that blocks a
// change.
type Rights struct {
	// Waive is the right for an order that a finding need not be fixed; RightMaintain by default.
	Waive string `yaml:"waive"`
	// BreakGlass is the right for an order to merge without an approval; RightMaintain by default.
	BreakGlass string `yaml:"break_glass"`
}

// Labels are the labels through which people and agents communicate.
type Labels struct {
	// NeedsHuman marks pull requests that wait for a person; needs-human by default.
	NeedsHuman string `yaml:"needs_human"`
	// Hold stops an author's agent from working on a pull request; touchstone-hold by default.
	Hold string `yaml:"hold"`
	// Manual leaves the merge to the pull request's author; touchstone-manual by default.
	Manual string `yaml:"manual"`
}

// Notify says how people are notified of pull requests that wait for a person.
type Notify struct {
	// SlackWebhookFile is the path of a file that contains only the address of a Slack-compatible incoming
	// webhook. None by default.
	SlackWebhookFile string `yaml:"slack_webhook_file"`
	// SlackWebhook comes from SlackWebhookFile. It is a secret: knowing it is enough to post.
	SlackWebhook Secret `yaml:"-"`
}

// Worktrees says where worktrees and mirrors take their objects from, and limits their disk space. Worktrees
// in use are kept.
type Worktrees struct {
	// Clones are the user's own clones, by owner/name, whose objects are borrowed. The agent only reads them.
	// None by default.
	Clones map[string]string `yaml:"clones"`
	// Partial fetches the content of files only when it is needed: Auto, the default, does so for large
	// repositories; On or Off.
	Partial string `yaml:"partial"`
	// Unused is how long a worktree that is not used is kept; 720h by default.
	Unused Duration `yaml:"unused"`
	// MaxGB limits the disk space of worktrees and mirrors, in gigabytes; above it, those that were unused
	// for longest are removed. 20 by default, 0 for no limit.
	MaxGB int `yaml:"max_gb"`
}

// Log says what is logged and in which format.
type Log struct {
	// Level is debug, info (the default), warn or error.
	Level string `yaml:"level"`
	// Format is console, json or auto, the default, which is console on a terminal.
	Format string `yaml:"format"`
}

// Default returns the default settings. Its StateDir is empty, since that depends on the environment; Load
// fills it in.
func Default() Config {
	return Config{
		GitHub: GitHub{APIURL: "https://api.github.com/", TokenCommand: []string{}},
		Keys:   map[string][]string{},
		Review: ReviewRequested,
		Merge:  Merge{Auto: true, RequireChecks: true},
		Rounds: Rounds{Max: 15, Attempts: 3, Backoff: Duration(30 * time.Second)},
		Budgets: Budgets{
			Round: 10, PullRequest: 50, Day: 200,
			RoundTime: Duration(2 * time.Hour), PullRequestTime: Duration(12 * time.Hour),
		},
		Sweep:       Duration(5 * time.Minute),
		Concurrency: 3,
		Engine: Engine{
			Name: "claude", Command: []string{}, ACP: ACP{Command: []string{}, Variables: []string{}}, Fallback: []string{}, Off: []string{},
			Gateway: On, Sandbox: Auto,
			Timeout: Duration(25 * time.Minute), IdleTimeout: Duration(time.Minute), ToolTimeout: Duration(10 * time.Minute), MaxTurns: 300,
			Allow: []string{"go build *", "go test *", "go vet *", "gofmt *", "npm test *", "cargo test *", "pytest *", "make test"},
		},
		Prices:    Prices{Models: map[string]Price{}},
		Control:   true,
		Author:    Author{Pause: Duration(10 * time.Minute), Network: NetworkFull, Nits: true},
		Rights:    Rights{Waive: RightMaintain, BreakGlass: RightMaintain},
		Labels:    Labels{NeedsHuman: "needs-human", Hold: "touchstone-hold", Manual: "touchstone-manual"},
		Worktrees: Worktrees{Clones: map[string]string{}, Partial: Auto, Unused: Duration(30 * 24 * time.Hour), MaxGB: 20},
		Log:       Log{Level: "info", Format: "auto"},
	}
}
