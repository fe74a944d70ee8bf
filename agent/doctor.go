package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/trust"
	"touchstone/agent/version"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

func newDoctor(s *cli.Settings) *cobra.Command {
	var mode, format string
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything an agent needs and say what to do about what is missing",
		Long: `doctor checks the configuration, the token and whose it is, each repository, what
the token may do there, its settings, whether its rules let the agents merge, whose
approvals they count and what GitHub itself checks, the relay, git, the model CLIs with their providers, prices and sandbox, the guidelines and
the state directory, and shows the reviewers' accounts and keys. It changes nothing but for
keeping the accounts, and making a reviewer's key, that it finds missing. It exits 1 if anything is wrong.

With --fix it first mends, on this machine alone, what can be mended without a choice of yours,
and says what it did: other users' rights to files of secrets, a missing state directory, what
commands that were killed left behind, a service that an older version installed, and a model CLI
that is not here while another one is. Repeating it changes nothing.`,
		Example: "  touchstone doctor --mode author\n  touchstone doctor --fix",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			role, err := cli.Role(cmd, mode)
			if err != nil {
				return err
			}
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			if err := cli.CheckFormat(cmd, format); err != nil {
				return err
			}
			d := doctor{cfg: cfg, role: role, tell: func(check) {}}
			if format == "text" {
				d.tell = tellTo(cmd.OutOrStdout())
			}
			if fix {
				if d.fix(cmd.Context()) {
					if d.cfg, err = s.Load(cmd); err != nil {
						return err
					}
				}
			}
			d.examine(cmd.Context())
			if format == "json" {
				if err := d.json(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			if d.problems > 0 {
				return fmt.Errorf("%d of %d checks found a problem", d.problems, len(d.checks))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().StringVar(&mode, "mode", "reviewer", "the mode to check for: reviewer or author")
	cmd.Flags().BoolVar(&fix, "fix", false, "first mend on this machine what can be mended without a choice of yours")
	return cmd
}

// check is what one check found: a fact, or a problem with what to do about it. As a fix it is what was
// done, or why it was not.
type check struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`

	fix bool
}

// doctor runs the checks one after the other, tells each and counts.
type doctor struct {
	cfg      config.Config
	role     decide.Role
	tell     func(check)
	fixes    []check
	checks   []check
	problems int
}

// tellTo prints each check for people.
func tellTo(out io.Writer) func(check) {
	return func(c check) {
		word := "ok"
		switch {
		case c.fix && c.OK:
			word = "fixed"
		case c.fix:
			word = "unfixed"
		case !c.OK:
			word = "problem"
		}
		fmt.Fprintf(out, "%-8s %-12s %s\n", word, c.Name, c.Message)
	}
}

// json prints all that was found, for programs.
func (d *doctor) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Fixes    []check `json:"fixes,omitempty"`
		Checks   []check `json:"checks"`
		Problems int     `json:"problems"`
	}{d.fixes, d.checks, d.problems})
}

// check tells what one check finds: a fact, or an error that says what to do. It reports
// whether all was well.
func (d *doctor) check(what string, find func() (string, error)) (ok bool) {
	fact, err := find()
	c := check{Name: what, OK: err == nil, Message: fact}
	if err != nil {
		d.problems++
		c.Message = err.Error()
	}
	d.checks = append(d.checks, c)
	d.tell(c)
	return err == nil
}

func (d *doctor) examine(ctx context.Context) {
	d.check("git", func() (string, error) { return git(ctx) })
	d.models(ctx) // each check of which has a bound of its own
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d.check("guidelines", func() (string, error) {
		set, err := layered(ctx, d.cfg)
		return fmt.Sprintf("%s, version %s", verdict.Amount(len(set.Documents), "document", "documents"), set.Version()), err
	})
	d.check("state", func() (string, error) { return d.cfg.StateDir, writable(d.cfg.StateDir) })
	d.check("secrets", d.secrets)
	if outdated, _, err := d.service(); outdated || err != nil {
		d.check("service", func() (string, error) {
			return "", cmp.Or(err, fmt.Errorf("the service of the %s's agent was installed by another version than this; run `touchstone service "+
				"install --mode %s`, or `touchstone doctor --fix --mode %s`", d.role, d.role, d.role))
		})
	}
	d.check("relay", func() (string, error) { return d.relay(ctx) })
	client, err := daemon.Client(d.cfg, version.String())
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
		if d.role == decide.Reviewer && isApp(self) && d.cfg.Review != config.ReviewAll {
			return "", fmt.Errorf("%s is an App, which GitHub lets nobody ask for a review; set review: all", self)
		}
		return fmt.Sprintf("%s as %s; verdicts of %s count", self, d.role, strings.Join(d.cfg.Reviewers, ", ")),
			daemon.CheckIdentity(d.role, self, d.cfg.Reviewers)
	})
	d.check("trust", func() (string, error) { return d.trust(ctx, client, self) })
	if len(d.cfg.Repositories) == 0 {
		d.check("repository", func() (string, error) {
			return "", fmt.Errorf("none is configured; list them under `repositories` or give --repo owner/name")
		})
	}
	for _, name := range d.cfg.Repositories {
		if d.check("repository", func() (string, error) { return repository(ctx, client, name, self) }) {
			d.check("settings", func() (string, error) { return ownSettings(ctx, client, name) })
			d.check("merging", func() (string, error) { return d.merging(ctx, client, name, self) })
			d.check("statuses", func() (string, error) { return statuses(ctx, client, name) })
			d.check("approvals", func() (string, error) { return d.approvals(ctx, client, name, self) })
			d.check("protection", func() (string, error) { return protection(ctx, client, name) })
		}
	}
}

// trust tells which accounts the reviewers have and with which keys their records are signed. It
// keeps the accounts that this machine did not know yet.
func (d *doctor) trust(ctx context.Context, client *forge.Client, self string) (string, error) {
	book, err := daemon.Trusted(config.NewLive(d.cfg, nil))
	if err != nil {
		return "", err
	}
	if err := daemon.CheckReviewers(ctx, client, book, d.cfg.Reviewers); err != nil {
		return "", err
	}
	var facts []string
	if d.role == decide.Reviewer {
		key, err := trust.Key(d.cfg.StateDir)
		if err != nil {
			return "", err
		}
		facts = append(facts, fmt.Sprintf("this machine signs for %s with the key %s", self, trust.Public(key)))
	}
	for _, login := range d.cfg.Reviewers {
		known := book.Reviewer(login)
		signs := "the first key that it signs with will be believed"
		for name, keys := range d.cfg.Keys {
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

// git tells which git there is.
func git(ctx context.Context) (string, error) {
	if err := (&worktree.Store{}).CheckGit(ctx); err != nil {
		return "", err
	}
	said, err := exec.CommandContext(ctx, "git", "version").Output()
	return strings.TrimSpace(strings.TrimPrefix(string(said), "git version")), err
}

// repository tells what the token may do in one repository.
func repository(ctx context.Context, client *forge.Client, name, self string) (string, error) {
	repo, err := forge.ParseRepo(name)
	if err != nil {
		return "", err
	}
	// First, since it tells a repository that is not there from one without rights in it.
	open, err := client.OpenPullRequests(ctx, repo)
	if err != nil {
		return "", err
	}
	if isApp(self) { // whose rights are its installation's, and not a collaborator's
		waiting := verdict.Amount(len(open), "open pull request", "open pull requests")
		return fmt.Sprintf("%s, part of the App's installation, %s", name, waiting), nil
	}
	permission, err := client.Permission(ctx, repo, self)
	switch {
	case err != nil:
		return "", err
	case permission == forge.Unseen: // GitHub shows rights to those alone who may push
		return "", fmt.Errorf("%s may not push to %s; give it write access, or its reviews do not count and its pushes are refused", self, name)
	case !permission.CanWrite():
		return "", fmt.Errorf("%s may only %s %s; give it write access, or its reviews do not count and its pushes are refused", self,
			permission, name)
	}
	return fmt.Sprintf("%s, %s access, %s", name, permission, verdict.Amount(len(open), "open pull request", "open pull requests")), nil
}

// ownSettings tells whether a repository's settings can be read. While they cannot, nothing is
// reviewed or merged there.
func ownSettings(ctx context.Context, client *forge.Client, name string) (string, error) {
	repo, err := forge.ParseRepo(name)
	if err != nil {
		return "", err
	}
	text, err := client.File(ctx, repo, "", config.RepositoryPath)
	if errors.Is(err, forge.ErrNotFound) {
		return fmt.Sprintf("%s has no %s, so the defaults hold", name, config.RepositoryPath), nil
	}
	if err != nil {
		return "", err
	}
	if _, err := config.ParseRepository(text); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Sprintf("%s of %s is in order", config.RepositoryPath, name), nil
}

func (d *doctor) relay(ctx context.Context) (string, error) {
	url := strings.TrimSuffix(d.cfg.Relay.URL, "/")
	if url == "" {
		return "none configured; only the sweep every " + d.cfg.Sweep.String() + " finds work", nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("%s cannot be reached (%w); start it with `touchstone-relay serve`, or mend relay.url", url, err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s: it runs but is not ready; look at its log", url, response.Status)
	}
	// The settings are for holders of a token only, so asking for them shows whether the relay
	// takes ours.
	asking := d.cfg
	asking.Control, asking.StateDir = true, ""
	if _, err := remoteconfig.Ask(ctx, asking); err != nil {
		return "", fmt.Errorf("%s is ready, but %w", url, err)
	}
	return url + " is ready and takes this machine's token", nil
}

// writable reports whether a directory can be made and written to.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot be made (%w); set state_dir to a directory of yours", err)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("cannot be written to (%w); set state_dir to a directory of yours", err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}
