// Package config owns the settings: those of one machine's agent, read from agent.yaml and
// the environment, and those that a repository decides for all its agents. It says what they
// are, what holds where nothing is said, and which ones cannot work. It stores nothing.
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
	// ReviewRequested is to review where this login's review was asked for.
	ReviewRequested = "requested"
	// ReviewAll is to review every pull request of the repositories.
	ReviewAll = "all"
)

// Values of settings that are switches.
const (
	On   = "on"
	Off  = "off"
	Auto = "auto"
	// Required is Auto that refuses where there is nothing to choose.
	Required = "required"
)

// Config is what an agent is told. The comments give each setting's default; Example is an
// annotated file.
type Config struct {
	GitHub GitHub `yaml:"github"`
	Relay  Relay  `yaml:"relay"`
	// Repositories are looked after, each as owner/name. None by default.
	Repositories []string `yaml:"repositories"`
	// Reviewers are the logins whose verdicts count. None by default.
	Reviewers []string `yaml:"reviewers"`
	// Keys are the public keys with which the records of reviewers are signed, by login, each of
	// one of that reviewer's machines. None by default: the first that is met is believed from
	// then on.
	Keys map[string][]string `yaml:"keys"`
	// UnsignedUntil is the day on which records that are not signed cease to count. By
	// default that is when a key of their reviewer is known.
	UnsignedUntil Date `yaml:"unsigned_until"`
	// Review is ReviewRequested, the default, or ReviewAll.
	Review string `yaml:"review"`
	// Guidelines is where an organisation's own guideline documents are, which lie over the
	// built-in ones and under a repository's: a directory, which Load makes absolute, or a
	// repository of theirs as owner/name or owner/name@ref. None by default.
	Guidelines string  `yaml:"guidelines"`
	Merge      Merge   `yaml:"merge"`
	Rounds     Rounds  `yaml:"rounds"`
	Budgets    Budgets `yaml:"budgets"`
	// Sweep is the time between two looks at everything that is open: how late an
	// agent may be whose events were lost. 5m by default.
	Sweep Duration `yaml:"sweep"`
	// Concurrency is how many pull requests are worked on at once; 3 by default.
	Concurrency int    `yaml:"concurrency"`
	Engine      Engine `yaml:"engine"`
	Prices      Prices `yaml:"prices"`
	// Control is to let the relay's administrators choose among engines and models for
	// this agent as for all others; true by default. Nothing else can be set from there.
	Control bool    `yaml:"control"`
	Author  Author  `yaml:"author"`
	Rights  Rights  `yaml:"rights"`
	Labels  Labels  `yaml:"labels"`
	Notify  Notify  `yaml:"notify"`
	Metrics Metrics `yaml:"metrics"`
	// StateDir is where worktrees, mirrors and journals are kept. By default it is
	// $XDG_STATE_HOME/touchstone, which is ~/.local/state/touchstone where that is
	// not set, and %LOCALAPPDATA%\touchstone on Windows.
	StateDir  string    `yaml:"state_dir"`
	Worktrees Worktrees `yaml:"worktrees"`
	Log       Log       `yaml:"log"`

	// Warnings are sentences about what works but should not stay so. Load writes them.
	Warnings []string `yaml:"-"`

	// path is the file that was read, or that would have been; stamp is its state from before that.
	path, stamp string
	// written says that there was more than comments in it.
	written bool
}

// Path is the file that Load has read, or would have read had it been there; absolute, or empty where
// this user has no place for one.
func (c Config) Path() string { return c.path }

// GitHub says where GitHub is and who we are there.
type GitHub struct {
	// APIURL is the root of the REST API, https://api.github.com/ by default; that of
	// a GitHub Enterprise Server is https://host/api/v3/.
	APIURL string `yaml:"api_url"`
	// TokenFile names a file that holds the token and nothing else. None by default.
	TokenFile string `yaml:"token_file"`
	// TokenCommand is a program with its arguments that prints the token, such as gh auth token.
	// None by default.
	TokenCommand []string `yaml:"token_command"`
	// AppID is the number of a GitHub App that acts instead of a token's login. 0, the default, is none.
	AppID int64 `yaml:"app_id"`
	// AppKeyFile names the file that holds the App's private key and nothing else. None by default.
	AppKeyFile string `yaml:"app_key_file"`
	// Token comes from GITHUB_TOKEN or, where that is empty, from TokenFile, or else from
	// TokenCommand. It wins over the App.
	Token Secret `yaml:"-"`
	// AppKey comes from AppKeyFile.
	AppKey Secret `yaml:"-"`
}

// Relay says where the events come from.
type Relay struct {
	// URL is the relay's address. Without one, the default, pull requests are only
	// looked at in the sweep.
	URL string `yaml:"url"`
	// TokenFile names a file that holds the token and nothing else. None by default.
	TokenFile string `yaml:"token_file"`
	// Token comes from RELAY_TOKEN or, where that is empty, from TokenFile.
	Token Secret `yaml:"-"`
}

// Merge says when an author's agent merges.
type Merge struct {
	// Auto is to squash-merge what is approved and green; true by default.
	Auto bool `yaml:"auto"`
	// RequireChecks is to merge nothing that no check has passed; true by default.
	RequireChecks bool `yaml:"require_checks"`
	// Forks is to merge what comes from a fork as well; false by default. Even then no agent pushes
	// to a fork or deletes one of its branches.
	Forks bool `yaml:"forks"`
	// DeleteBranch is to delete the head branch after a merge, if it is in the same
	// repository and no other open pull request is to be merged into it; false by default.
	DeleteBranch bool `yaml:"delete_branch"`
}

// Rounds bounds what is tried before a person is called.
type Rounds struct {
	// Max is how many reviews a pull request may take; 15 by default.
	Max int `yaml:"max"`
	// Attempts is how many sessions on one commit may come to nothing; 3 by default.
	Attempts int `yaml:"attempts"`
	// Backoff is the wait before another attempt on the same commit. It doubles with
	// each; 30s by default.
	Backoff Duration `yaml:"backoff"`
}

// Budgets bound what sessions may cost before a person is called, in US dollars, and how
// long they may take. 0 is no bound.
type Budgets struct {
	// Round is for one review or one fix, all its sessions together; 10 by default.
	Round float64 `yaml:"round"`
	// PullRequest is for all rounds of a pull request; 50 by default.
	PullRequest float64 `yaml:"pull_request"`
	// Day is for all that this machine's agent of a role does from midnight to midnight;
	// 200 by default.
	Day float64 `yaml:"day"`
	// RoundTime is how long the sessions of one round may take; 2h by default.
	RoundTime Duration `yaml:"round_time"`
	// PullRequestTime is how long those of all rounds may take; 12h by default.
	PullRequestTime Duration `yaml:"pull_request_time"`
}

// Metrics says where this agent's figures can be read.
type Metrics struct {
	// Listen is a loopback address for Prometheus to read, such as 127.0.0.1:9477. None by
	// default.
	Listen string `yaml:"listen"`
}

// Author is whom the commits name, how long the author's agent waits after a person's push, what
// its sessions may reach and whether it applies nits. Name and Email may be empty, as by default:
// the name is then the token's login, and the address the one GitHub attributes to it.
type Author struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
	// Pause is how long nothing is done on a branch after a person pushed to it; 10m by
	// default, 0s is not to wait.
	Pause Duration `yaml:"pause"`
	// Nits is to apply, before a merge, what the nits of an approval propose by suggestions that
	// replace whole lines; true by default.
	Nits bool `yaml:"nits"`
	// Network is NetworkFull, the default, since builds download what they need; or NetworkGateway,
	// with which a session connects to its gateway alone, and a verify command to nothing.
	Network string `yaml:"network"`
}

// Values of Author.Network.
const (
	NetworkFull    = "full"
	NetworkGateway = "gateway"
)

// The rights on a repository that an order may take, as GitHub grants them
// (https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization).
const (
	RightWrite    = "write"
	RightMaintain = "maintain"
	RightAdmin    = "admin"
)

// Rights say what a person may do to a repository at the least whose orders set something
// aside that holds a change back.
type Rights struct {
	// Waive is for an order that a finding need not be fixed; RightMaintain by default.
	Waive string `yaml:"waive"`
	// BreakGlass is for an order to merge without an approval; RightMaintain by default.
	BreakGlass string `yaml:"break_glass"`
}

// Labels are the labels that people and agents talk with.
type Labels struct {
	// NeedsHuman marks what waits for a person; needs-human by default.
	NeedsHuman string `yaml:"needs_human"`
	// Hold keeps an author's agent away; touchstone-hold by default.
	Hold string `yaml:"hold"`
	// Manual leaves the merge to the pull request's author; touchstone-manual by default.
	Manual string `yaml:"manual"`
}

// Notify says how a person is told of what waits for one.
type Notify struct {
	// SlackWebhookFile names a file that holds the address of a Slack-compatible
	// incoming webhook and nothing else. None by default.
	SlackWebhookFile string `yaml:"slack_webhook_file"`
	// SlackWebhook comes from SlackWebhookFile. It is a secret: it alone allows posting.
	SlackWebhook Secret `yaml:"-"`
}

// Worktrees says where worktrees and mirrors take their objects from and bounds what they
// take. What is in use stays.
type Worktrees struct {
	// Clones are clones of the user's, by owner/name, whose objects are borrowed. They are
	// only read. None by default.
	Clones map[string]string `yaml:"clones"`
	// Partial is to fetch the content of files only when it is needed: Auto, the default,
	// where a repository is large, On or Off.
	Partial string `yaml:"partial"`
	// Unused is how long a worktree is kept that nothing is done in; 720h by default.
	Unused Duration `yaml:"unused"`
	// MaxGB is how many gigabytes they may take, before those unused for longest go; 0
	// is no bound, 20 the default.
	MaxGB int `yaml:"max_gb"`
}

// Log says what is logged and how.
type Log struct {
	// Level is debug, info (the default), warn or error.
	Level string `yaml:"level"`
	// Format is console, json, or auto, the default: console on a terminal.
	Format string `yaml:"format"`
}

// Default is what holds where nothing else is said. Its StateDir is empty, since that
// depends on the environment; Load fills it in.
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
