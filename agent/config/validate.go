package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"touchstone/verdict"
	"touchstone/worktree/githubname"
	"touchstone/worktree/lazyregexp"
)

// Validate reports every setting that cannot work, in sentences that say what to do. It opens no file. Which
// repositories, reviewers, relay and tokens are required depends on the agent's task, so Validate does not
// check that.
func (c Config) Validate() error {
	return errors.Join(
		c.validateAccess(),
		c.validateNames(),
		c.validateLimits(),
		c.Engine.Validate(),
		c.Prices.validate(),
		oneOf("review", c.Review, ReviewRequested, ReviewAll),
		c.validateNetwork(),
		oneOf("rights.waive", c.Rights.Waive, RightWrite, RightMaintain, RightAdmin),
		oneOf("rights.break_glass", c.Rights.BreakGlass, RightWrite, RightMaintain, RightAdmin),
		oneOf("worktrees.partial", c.Worktrees.Partial, Auto, On, Off),
		oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error"),
		oneOf("log.format", c.Log.Format, "auto", "console", "json"),
	)
}

// validateNetwork checks the network access of an author's sessions, which only the sandbox can limit.
func (c Config) validateNetwork() error {
	if c.Author.Network == NetworkGateway && (c.Engine.Sandbox == Off || c.Engine.Gateway == Off) {
		return errors.New("author.network is gateway, which requires engine.gateway: on and a sandbox; set engine.sandbox to auto or required, " +
			"or author.network to full")
	}
	return oneOf("author.network", c.Author.Network, NetworkFull, NetworkGateway)
}

// validateAccess checks the addresses and the credentials.
func (c Config) validateAccess() error {
	errs := []error{validateURL("github.api_url", c.GitHub.APIURL)}
	switch {
	case (c.GitHub.AppID != 0) != (c.GitHub.AppKeyFile != ""):
		errs = append(errs, errors.New("github.app_id and github.app_key_file belong together: set both, or neither"))
	case c.GitHub.AppID < 0:
		errs = append(errs, fmt.Errorf("github.app_id is %d; it must be the number that the App's settings on GitHub show", c.GitHub.AppID))
	case c.GitHub.AppID != 0 && (c.GitHub.TokenFile != "" || len(c.GitHub.TokenCommand) > 0):
		errs = append(errs, errors.New("github.app_id is for an App, and github.token_file or github.token_command for a login: set one of them"))
	}
	if c.GuidelinesURL != "" {
		errs = append(errs, validatePages("guidelines_url", c.GuidelinesURL))
	}
	if c.Relay.URL != "" {
		errs = append(errs, validateURL("relay.url", c.Relay.URL))
	}
	for _, token := range []struct {
		whose string
		value Secret
	}{{"GitHub", c.GitHub.Token}, {"relay", c.Relay.Token}} {
		if strings.ContainsFunc(string(token.value), func(r rune) bool { return r <= ' ' || r > '~' }) {
			errs = append(errs, fmt.Errorf("the %s token contains a space, a line break or another character that no token has; copy it again",
				token.whose))
		}
	}
	// The address is a secret: the error must not repeat it.
	if u, err := url.Parse(string(c.Notify.SlackWebhook)); c.Notify.SlackWebhook != "" && (err != nil || u.Host == "" || !private(u)) {
		errs = append(errs, errors.New("notify.slack_webhook_file names a file without the address of a webhook; "+
			"the address begins with https://"))
	}
	if address, err := netip.ParseAddrPort(c.Metrics.Listen); c.Metrics.Listen != "" && (err != nil || !address.Addr().IsLoopback()) {
		errs = append(errs, fmt.Errorf("metrics.listen is %.40q; it must be a port on a loopback address, such as 127.0.0.1:9477, "+
			"since everyone who can reach it can read the metrics", c.Metrics.Listen))
	}
	return errors.Join(errs...)
}

// validateURL accepts the addresses to which a token may be sent.
func validateURL(key, value string) error {
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%s is not the address of a server; write one such as https://host/", key)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("%s must be plain, such as https://%s/: no user, password, query or fragment", key, u.Host)
	case !private(u):
		return fmt.Errorf("%s is %q, which would send the token unencrypted; use https (http is only for this machine, "+
			"such as http://127.0.0.1:8080)", key, value)
	}
	return nil
}

// validatePages accepts the addresses of folders that a posted text may link to.
func validatePages(key, value string) error {
	u, err := url.Parse(value)
	// A file's name and its line are added to the address, and some characters would end the link in Markdown.
	breaks := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("?#()<>[]\"`\\", r) }
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsFunc(value, breaks) {
		return fmt.Errorf("%s is not the plain https address of a folder; write one such as https://host/guidelines/docs, without a user, "+
			"password, query or fragment; write spaces, brackets and letters outside of ASCII in percent encoding, such as %%20", key)
	}
	return nil
}

// private reports whether data that is sent to the address stays secret on the way: it is encrypted, or does
// not leave this machine.
func private(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && address.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

var (
	// keyPattern matches an Ed25519 public key.
	keyPattern = lazyregexp.New(`^[0-9a-fA-F]{64}$`)
	// revisionPattern matches a branch, tag or commit, after a repository and an "@".
	revisionPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$`)
)

// maxLabel is the maximum length of a label's name on GitHub, in characters.
const maxLabel = 50

// validateNames checks the names that are written to or looked up on GitHub.
func (c Config) validateNames() error {
	var errs []error
	for _, name := range c.Repositories {
		if !githubname.IsRepository(name) {
			errs = append(errs, fmt.Errorf("repositories has %.120q, which is not a repository; write owner/name, such as acme/app", name))
		}
	}
	for name := range c.Worktrees.Clones {
		if !githubname.IsRepository(name) {
			errs = append(errs, fmt.Errorf("worktrees.clones has %.120q, which is not a repository; write owner/name and the path of "+
				"a clone, such as acme/app: ~/src/app", name))
		}
	}
	for _, login := range c.Reviewers {
		if !githubname.IsLogin(login) {
			errs = append(errs, fmt.Errorf("reviewers has %.120q, which is not a login; write it as on GitHub, without an @, such as octocat",
				login))
		}
	}
	for login, keys := range c.Keys {
		if !verdict.ListsLogin(c.Reviewers, login) {
			errs = append(errs, fmt.Errorf("keys has %.120q, which is not listed under reviewers; list it there too", login))
		}
		for _, key := range keys {
			if !keyPattern.MatchString(key) {
				errs = append(errs, fmt.Errorf("keys has an invalid key for %.120q; write the 64 digits that `touchstone doctor --mode "+
					"reviewer` shows on the reviewer's machine", login))
			}
		}
	}
	used := map[string]string{}
	for _, label := range []struct{ key, value string }{{"needs_human", c.Labels.NeedsHuman}, {"hold", c.Labels.Hold},
		{"manual", c.Labels.Manual}} {
		name := strings.ToLower(label.value) // GitHub's labels ignore case
		if n := len([]rune(name)); n == 0 || n > maxLabel || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl) {
			errs = append(errs, fmt.Errorf("labels.%s must be a label's name of 1 to %d characters, without spaces around it", label.key, maxLabel))
		} else if other := used[name]; other != "" {
			errs = append(errs, fmt.Errorf("labels.%s and labels.%s are the same label, %q, which cannot say both; give each its own", other,
				label.key, label.value))
		}
		used[name] = label.key
	}
	for _, pattern := range c.Engine.Allow {
		if strings.Trim(pattern, "* ") == "" {
			errs = append(errs, fmt.Errorf("engine.allow has %.120q, which would allow every command; write the commands that a fix "+
				"needs, such as go test *", pattern))
		}
	}
	odd := func(r rune) bool { return r == '<' || r == '>' || unicode.IsControl(r) }
	if strings.ContainsFunc(c.Author.Name+c.Author.Email, odd) || c.Author.Email != "" && !strings.Contains(c.Author.Email, "@") {
		errs = append(errs, errors.New("author must be a plain name and email, such as name: Octo Cat and email: octocat@example.com; "+
			"leave both out for the token's login"))
	}
	return errors.Join(errs...)
}

// inRepository reports whether a place of guidelines is a repository with an optional branch, tag or commit.
func inRepository(place string) bool {
	repository, revision, pinned := strings.Cut(place, "@")
	return githubname.IsRepository(repository) && (!pinned || revisionPattern.MatchString(revision))
}

// validateLimits checks numbers and times.
func (c Config) validateLimits() error {
	return errors.Join(
		need(c.Worktrees.MaxGB >= 0, "worktrees.max_gb is %d; it must be a number of gigabytes, or 0 for no limit", c.Worktrees.MaxGB),
		need(c.StateDir != "", "there is no home directory to keep state in; set state_dir"),
		atLeastOne("rounds.max", c.Rounds.Max), atLeastOne("rounds.attempts", c.Rounds.Attempts), atLeastOne("concurrency", c.Concurrency),
		positive("rounds.backoff", c.Rounds.Backoff), positive("sweep", c.Sweep), positive("worktrees.unused", c.Worktrees.Unused),
		notNegative("author.pause", c.Author.Pause), notNegative("budgets.round_time", c.Budgets.RoundTime),
		notNegative("budgets.pull_request_time", c.Budgets.PullRequestTime),
		dollars("budgets.round", c.Budgets.Round), dollars("budgets.pull_request", c.Budgets.PullRequest), dollars("budgets.day", c.Budgets.Day),
	)
}

// need returns nil if a setting meets a condition, and otherwise the error that says what it needs.
func need(met bool, format string, args ...any) error {
	if met {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// amount reports whether a number can be a sum of money.
func amount(dollars float64) bool { return dollars >= 0 && !math.IsInf(dollars, 0) }

func dollars(key string, value float64) error {
	return need(amount(value), "%s is %v; it must be a number of US dollars, or 0 for no limit", key, value)
}

func atLeastOne(key string, n int) error {
	return need(n >= 1, "%s is %d; it must be at least 1", key, n)
}

func positive(key string, d Duration) error {
	return need(d > 0, "%s is %s; it must be more than 0s, such as 30s", key, d)
}

func notNegative(key string, d Duration) error {
	return need(d >= 0, "%s is %s; it must be a time such as 10m, or 0s", key, d)
}

func oneOf(key, value string, allowed ...string) error {
	last := len(allowed) - 1
	return need(slices.Contains(allowed, value), "%s is %.40q; it must be %s or %s", key, value, strings.Join(allowed[:last], ", "),
		allowed[last])
}
