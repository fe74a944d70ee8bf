// Package config owns the settings: those of one machine's agent, read from agent.yaml and
// the environment, and those that a repository decides for all its agents. It says what they
// are, what holds where nothing is said, and which ones cannot work. It stores nothing.
package config

import "time"

// Values of Config.Review.
const (
	// ReviewRequested is to review where this login's review was asked for.
	ReviewRequested = "requested"
	// ReviewAll is to review every pull request of the repositories.
	ReviewAll = "all"
)

// Config is what an agent is told. The comments give each setting's default; an
// annotated file is in agent.example.yaml beside this one.
type Config struct {
	GitHub GitHub `yaml:"github"`
	Relay  Relay  `yaml:"relay"`
	// Repositories are looked after, each as owner/name. None by default.
	Repositories []string `yaml:"repositories"`
	// Reviewers are the logins whose verdicts count. None by default.
	Reviewers []string `yaml:"reviewers"`
	// Review is ReviewRequested, the default, or ReviewAll.
	Review string `yaml:"review"`
	// Guidelines is a directory with an organisation's own guideline documents, which lie
	// over the built-in ones and under a repository's. None by default.
	Guidelines string `yaml:"guidelines"`
	Merge      Merge  `yaml:"merge"`
	Rounds     Rounds `yaml:"rounds"`
	// Sweep is the time between two looks at everything that is open: how late an
	// agent may be whose events were lost. 5m by default.
	Sweep Duration `yaml:"sweep"`
	// Concurrency is how many pull requests are worked on at once; 3 by default.
	Concurrency int    `yaml:"concurrency"`
	Engine      Engine `yaml:"engine"`
	Author      Author `yaml:"author"`
	Labels      Labels `yaml:"labels"`
	Notify      Notify `yaml:"notify"`
	// StateDir is where worktrees, mirrors and journals are kept. By default it is
	// $XDG_STATE_HOME/touchstone, which is ~/.local/state/touchstone where that is
	// not set, and %LOCALAPPDATA%\touchstone on Windows.
	StateDir  string    `yaml:"state_dir"`
	Worktrees Worktrees `yaml:"worktrees"`
	Log       Log       `yaml:"log"`

	// Warnings are sentences about what works but should not stay so. Load writes them.
	Warnings []string `yaml:"-"`
}

// GitHub says where GitHub is and who we are there.
type GitHub struct {
	// APIURL is the root of the REST API, https://api.github.com/ by default; that of
	// a GitHub Enterprise Server is https://host/api/v3/.
	APIURL string `yaml:"api_url"`
	// TokenFile names a file that holds the token and nothing else. None by default.
	TokenFile string `yaml:"token_file"`
	// Token comes from GITHUB_TOKEN or, where that is empty, from TokenFile.
	Token Secret `yaml:"-"`
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
	// DeleteBranch is to delete the head branch after a merge, if it is in the same
	// repository; false by default.
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

// Engine says which model CLI does the thinking.
type Engine struct {
	// Name is the kind of CLI; claude by default.
	Name string `yaml:"name"`
	// Command is the program and its leading arguments; empty, which is the
	// default, is the CLI of that name on PATH.
	Command []string `yaml:"command"`
	// Model is the CLI's name of a model; empty, the default, leaves the choice to it.
	Model string `yaml:"model"`
	// Models are for reviews of smaller changes.
	Models Models `yaml:"models"`
	// Timeout bounds a session; 25m by default.
	Timeout Duration `yaml:"timeout"`
	// IdleTimeout bounds the time in which the CLI says nothing; 60s by default.
	IdleTimeout Duration `yaml:"idle_timeout"`
	// Allow lists the shell commands that an author's session may run, as patterns in
	// which * stands for anything. By default what builds and tests in common
	// languages.
	Allow []string `yaml:"allow"`
}

// Models name the models that review changes of the smaller risk tiers. An empty one, the
// default, is Engine.Model.
type Models struct {
	// Trivial is for at most 10 lines in at most 20 files, nothing sensitive among them.
	Trivial string `yaml:"trivial"`
	// Lite is for at most 100 lines in at most 20 files, nothing sensitive among them.
	Lite string `yaml:"lite"`
}

// Author is whom the commits name. Either may be empty, as by default: the name is then
// the token's login, and the address the one GitHub attributes to it.
type Author struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
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
	// SlackWebhook comes from SlackWebhookFile. Whoever knows it can post.
	SlackWebhook Secret `yaml:"-"`
}

// Worktrees bounds what the worktrees and mirrors take. What is in use stays.
type Worktrees struct {
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
		GitHub:      GitHub{APIURL: "https://api.github.com/"},
		Review:      ReviewRequested,
		Merge:       Merge{Auto: true, RequireChecks: true},
		Rounds:      Rounds{Max: 15, Attempts: 3, Backoff: Duration(30 * time.Second)},
		Sweep:       Duration(5 * time.Minute),
		Concurrency: 3,
		Engine: Engine{
			Name: "claude", Command: []string{},
			Timeout: Duration(25 * time.Minute), IdleTimeout: Duration(time.Minute),
			Allow: []string{"go build *", "go test *", "go vet *", "gofmt *", "npm test *", "cargo test *", "pytest *", "make test"},
		},
		Labels:    Labels{NeedsHuman: "needs-human", Hold: "touchstone-hold", Manual: "touchstone-manual"},
		Worktrees: Worktrees{Unused: Duration(30 * 24 * time.Hour), MaxGB: 20},
		Log:       Log{Level: "info", Format: "auto"},
	}
}
