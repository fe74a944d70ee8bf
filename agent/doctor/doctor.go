// Package doctor checks everything that an agent needs, says what to do about missing parts, and fixes what
// needs no decision by a person.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/report"
	"touchstone/agent/terminal"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// Result is the outcome of one check: a fact, or a problem with advice. As a fix it says what was done, or
// why not.
type Result struct {
	// Name is what was checked.
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`

	fix bool
}

// Doctor runs the checks one after the other, reports each result and counts the problems.
type Doctor struct {
	Config config.Config
	// Role is the role of the checked agent.
	Role decide.Role
	// Report receives each result immediately.
	Report func(Result)
	// Results are the results so far; Problems of them are problems.
	Results  []Result
	Problems int
	fixes    []Result
}

// Print prints each result for people, wrapped to the width of a terminal. What others wrote, such as the relay's
// administrators, cannot control the terminal.
func Print(out io.Writer) func(Result) {
	const indent = 22 // where a message begins
	room := math.MaxInt
	if terminal.Is(out) {
		columns, _ := terminal.Size(out)
		room = max(columns-indent, indent)
	}
	return func(c Result) {
		word := "ok"
		switch {
		case c.fix && c.OK:
			word = "fixed"
		case c.fix:
			word = "unfixed"
		case !c.OK:
			word = "problem"
		}
		message := strings.Join(terminal.Wrap(terminal.Lines(c.Message), room), "\n"+strings.Repeat(" ", indent))
		fmt.Fprintf(out, "%-8s %-12s %s\n", word, c.Name, message)
	}
}

// JSON prints all results, for programs.
func (d *Doctor) JSON(out io.Writer) error {
	return report.PrintJSON(out, struct {
		Fixes    []Result `json:"fixes,omitempty"`
		Checks   []Result `json:"checks"`
		Problems int      `json:"problems"`
	}{d.fixes, d.Results, d.Problems})
}

// check reports the result of one check: a fact, or an error that says what to do. It returns whether the
// check succeeded.
func (d *Doctor) check(what string, find func() (string, error)) (ok bool) {
	fact, err := find()
	c := Result{Name: what, OK: err == nil, Message: fact}
	if err != nil {
		d.Problems++
		c.Message = err.Error()
	}
	d.Results = append(d.Results, c)
	d.Report(c)
	return err == nil
}

// Examine runs all checks.
func (d *Doctor) Examine(ctx context.Context) {
	d.check("agent.yaml", func() (string, error) { return d.file(), nil })
	d.check("git", func() (string, error) { return git(ctx) })
	d.models(ctx) // each of these checks has its own time limit
	whole := ctx
	ctx, cancel := context.WithTimeout(whole, patience)
	defer cancel()
	d.check("guidelines", func() (string, error) {
		set, err := compose.Guidelines(ctx, d.Config)
		return fmt.Sprintf("%s, version %s", verdict.Amount(len(set.Documents), "document", "documents"), set.Version()), err
	})
	d.check("state", func() (string, error) { return d.Config.StateDir, writable(d.Config.StateDir) })
	d.check("secrets", d.secrets)
	if outdated, _, err := d.service(); outdated || err != nil {
		d.check("service", func() (string, error) {
			return "", cmp.Or(err, fmt.Errorf("the service of the %s's agent was installed by another version than this; run `touchstone service "+
				"install --mode %s`, or `touchstone doctor --fix --mode %s`", d.Role, d.Role, d.Role))
		})
	}
	d.check("relay", func() (string, error) { return d.relay(ctx) })
	client, err := compose.Client(d.Config)
	if err != nil {
		d.check("github", func() (string, error) { return "", err })
		return
	}
	var self string
	d.check("github", func() (string, error) {
		self, err = client.Viewer(ctx)
		return "acting as " + self, err
	})
	if self == "" {
		return
	}
	d.check("identity", func() (string, error) {
		if d.Role == decide.Reviewer && verdict.IsApp(self) && d.Config.Review != config.ReviewAll {
			return "", fmt.Errorf("%s is a GitHub App, and GitHub lets nobody request a review from an App; set review: all", self)
		}
		return fmt.Sprintf("%s as %s; verdicts of %s count", self, d.Role, strings.Join(d.reviewers(self), ", ")),
			compose.CheckIdentity(d.Role, self, d.Config.Reviewers)
	})
	d.check("trust", func() (string, error) { return d.trust(ctx, client, self) })
	if len(d.Config.Repositories) == 0 {
		d.check("repository", func() (string, error) {
			return "", fmt.Errorf("none is configured; list them under `repositories` or give --repo owner/name")
		})
	}
	for _, name := range d.Config.Repositories {
		d.repository(whole, client, name, self, patience)
	}
}

// patience limits the time of the checks of this machine, and of those of each repository: a dozen requests.
const patience = time.Minute

// repository runs the checks of one repository within a time limit, so that many repositories cost none of
// them its time.
func (d *Doctor) repository(ctx context.Context, client *forge.Client, name, self string, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var repo forge.Repo
	if !d.check("repository", func() (_ string, err error) {
		if repo, err = forge.ParseRepo(name); err != nil {
			return "", err
		}
		return access(ctx, client, repo, self)
	}) {
		return
	}
	if app := client.App(); app != nil && d.Config.Relay.URL != "" {
		d.check("events", func() (string, error) {
			unsent, err := app.Installed(ctx, repo)
			return Unsent(unsent), err
		})
	}
	d.check("settings", func() (string, error) { return ownSettings(ctx, client, repo) })
	if len(d.reviewers(self)) > 0 { // missing reviewers are already reported
		d.check("merging", func() (string, error) { return d.merging(ctx, client, repo, self) })
	}
	d.check("statuses", func() (string, error) { return statuses(ctx, client, repo) })
	d.check("approvals", func() (string, error) { return d.approvals(ctx, client, repo, self) })
	d.check("protection", func() (string, error) { return protection(ctx, client, repo) })
}

// trust reports the reviewers' accounts and the keys that sign their records. It stores the accounts that
// this machine did not know yet.
func (d *Doctor) trust(ctx context.Context, client *forge.Client, self string) (string, error) {
	book, err := compose.Trusted(config.NewLive(d.Config, nil))
	if err != nil {
		return "", err
	}
	if err := compose.CheckReviewers(ctx, client, book, d.Config.Reviewers); err != nil {
		return "", err
	}
	var facts []string
	if d.Role == decide.Reviewer {
		key, err := trust.Key(d.Config.StateDir)
		if err != nil {
			return "", err
		}
		facts = append(facts, fmt.Sprintf("this machine signs for %s with the key %s", self, trust.Public(key)))
	}
	for _, login := range d.Config.Reviewers {
		known := book.Reviewer(login)
		signs := "the first key that it signs with will be trusted"
		for name, keys := range d.Config.Keys {
			if verdict.SameLogin(name, login) && len(keys) > 0 {
				signs = "signs with the keys in the configuration"
			}
		}
		if known.Key != "" && !strings.HasPrefix(signs, "signs") {
			signs = "signs with the key " + known.Key
		}
		facts = append(facts, fmt.Sprintf("%s is the account %d and %s", login, known.ID, signs))
	}
	return strings.Join(facts, "; "), nil
}

// git reports the installed git.
func git(ctx context.Context) (string, error) {
	if err := (&worktree.Store{}).CheckGit(ctx); err != nil {
		return "", err
	}
	said, err := exec.CommandContext(ctx, "git", "version").Output()
	return strings.TrimSpace(strings.TrimPrefix(string(said), "git version")), err
}

// access reports what the token may do in one repository.
func access(ctx context.Context, client *forge.Client, repo forge.Repo, self string) (string, error) {
	// First, since this request distinguishes a missing repository from one without permissions.
	open, err := client.OpenPullRequests(ctx, repo)
	if err != nil {
		return "", err
	}
	if verdict.IsApp(self) { // an App's permissions are its installation's, not a collaborator's
		waiting := verdict.Amount(len(open), "open pull request", "open pull requests")
		return fmt.Sprintf("%s, part of the App's installation, %s", repo, waiting), nil
	}
	permission, err := client.Permission(ctx, repo, self)
	switch {
	case err != nil:
		return "", err
	case permission == forge.Unseen: // GitHub shows permissions only to those who may push
		return "", fmt.Errorf("%s may not push to %s; give it write access, or its reviews do not count and its pushes are refused", self, repo)
	case !permission.CanWrite():
		return "", fmt.Errorf("%s may only %s %s; give it write access, or its reviews do not count and its pushes are refused", self,
			permission, repo)
	}
	return fmt.Sprintf("%s, %s access, %s", repo, permission, verdict.Amount(len(open), "open pull request", "open pull requests")), nil
}

// Unsent says which events an App's webhook does not send. That may be right: another webhook can send all events.
func Unsent(events []string) string {
	if len(events) == 0 {
		return "the App's webhook sends all events that the relay reads"
	}
	return fmt.Sprintf("the App's webhook does not send %s; unless another webhook sends them to the relay, make it active in the App's "+
		"settings on GitHub, and subscribe to them there under Permissions & events", strings.Join(events, ", "))
}

// ownSettings reports whether a repository's settings can be read. While they cannot, nothing is reviewed or
// merged there.
func ownSettings(ctx context.Context, client *forge.Client, repo forge.Repo) (string, error) {
	text, err := client.File(ctx, repo, "", config.RepositoryPath)
	if errors.Is(err, forge.ErrNotFound) { // as it also is behind a link in the directory's place
		if _, err = client.Files(ctx, repo, "", config.RepositoryDir); err == nil || errors.Is(err, forge.ErrNotFound) {
			return fmt.Sprintf("%s has no %s, so the defaults apply", repo, config.RepositoryPath), nil
		}
	}
	if err != nil {
		return "", err
	}
	if _, err := config.ParseRepository(text); err != nil {
		return "", fmt.Errorf("%s: %w", repo, err)
	}
	return fmt.Sprintf("%s of %s is valid", config.RepositoryPath, repo), nil
}

func (d *Doctor) relay(ctx context.Context) (string, error) {
	url := strings.TrimSuffix(d.Config.Relay.URL, "/")
	if url == "" {
		return "none configured; pull requests are looked at only in the sweep, every " + d.Config.Sweep.String(), nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("%s cannot be reached (%w); start the relay where it runs, or correct relay.url", url, err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %s: it runs but is not ready; look at its log", url, response.Status)
	}
	// Only holders of a token may read the settings, so asking for them shows whether the relay accepts ours.
	asking := d.Config
	asking.Control, asking.StateDir = true, ""
	if _, err := remoteconfig.Ask(ctx, asking); err != nil {
		return "", fmt.Errorf("%s is ready, but %w", url, err)
	}
	return url + " is ready and accepts this machine's token", nil
}

// file says which configuration file is checked: under another user or home directory it is another one.
func (d *Doctor) file() string {
	path := d.Config.Path()
	if _, err := os.Stat(path); err != nil {
		return fmt.Sprintf("there is none at %s, so the defaults apply; `touchstone join` and `touchstone init` write one", path)
	}
	return path
}

// writable returns an error if a directory cannot be created or written to.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot be created (%w); set state_dir to a directory that you can write to", err)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("cannot be written to (%w); set state_dir to a directory that you can write to", err)
	}
	probe.Close()
	return cmp.Or(os.Remove(probe.Name()), worktree.NoRoom(dir, 1<<20)) // an empty file can be created on a full disk
}
