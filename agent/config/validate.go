package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Validate reports, in sentences that say what to do, every setting that cannot work. It
// opens nothing. Which repositories, reviewers, relay and tokens are needed depends on what
// the agent is to do, and is not asked here.
func (c Config) Validate() error {
	return errors.Join(
		c.validateAccess(),
		c.validateNames(),
		c.validateLimits(),
		oneOf("review", c.Review, ReviewRequested, ReviewAll),
		oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error"),
		oneOf("log.format", c.Log.Format, "auto", "console", "json"),
	)
}

// validateAccess is about where we connect to and as whom.
func (c Config) validateAccess() error {
	errs := []error{validateURL("github.api_url", c.GitHub.APIURL)}
	if c.Relay.URL != "" {
		errs = append(errs, validateURL("relay.url", c.Relay.URL))
	}
	for _, token := range []struct {
		whose string
		value Secret
	}{{"GitHub", c.GitHub.Token}, {"relay", c.Relay.Token}} {
		if strings.ContainsFunc(string(token.value), func(r rune) bool { return r <= ' ' || r > '~' }) {
			errs = append(errs, fmt.Errorf("the %s token holds a space, a line break or another character that no token has; copy it again", token.whose))
		}
	}
	// That address is a secret: the error must not repeat it.
	if u, err := url.Parse(string(c.Notify.SlackWebhook)); c.Notify.SlackWebhook != "" && (err != nil || u.Host == "" || !private(u)) {
		errs = append(errs, errors.New("the notify.slack_webhook_file names a file that holds no address of a webhook; it begins with https://"))
	}
	return errors.Join(errs...)
}

// validateURL lets through the addresses to which a token may be sent.
func validateURL(key, value string) error {
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%s is no address of a server; write one such as https://host/", key)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("%s has to be plain, such as https://%s/: no user, password, query or fragment", key, u.Host)
	case !private(u):
		return fmt.Errorf("%s is %q, where everyone on the way could read the token; use https (http is for this machine alone, such as http://127.0.0.1:8080)", key, value)
	}
	return nil
}

// private reports whether what is sent there stays secret on its way: it is encrypted, or it
// does not leave this machine.
func private(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && address.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// What GitHub lets an owner, a repository and a login look like. A login may also be an
// app's, which ends in [bot].
var (
	repositoryPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}/[A-Za-z0-9._-]{1,100}$`)
	loginPattern      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\[bot\])?$`)
)

// maxLabel is the length of a label's name on GitHub, in characters.
const maxLabel = 50

// validateNames is about what is written to or looked up on GitHub.
func (c Config) validateNames() error {
	var errs []error
	for _, name := range c.Repositories {
		if !repositoryPattern.MatchString(name) || strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..") {
			errs = append(errs, fmt.Errorf("repositories has %.120q, which is no repository; write owner/name, such as acme/app", name))
		}
	}
	for _, login := range c.Reviewers {
		if !loginPattern.MatchString(login) {
			errs = append(errs, fmt.Errorf("reviewers has %.120q, which is no login; write it as on GitHub and without an @, such as octocat", login))
		}
	}
	for _, label := range []struct{ key, value string }{{"needs_human", c.Labels.NeedsHuman}, {"hold", c.Labels.Hold}, {"manual", c.Labels.Manual}} {
		if n := len([]rune(label.value)); n == 0 || n > maxLabel {
			errs = append(errs, fmt.Errorf("labels.%s has to be a label's name of 1 to %d characters", label.key, maxLabel))
		}
	}
	if strings.ContainsAny(c.Author.Name+c.Author.Email, "<>\n\r") || c.Author.Email != "" && !strings.Contains(c.Author.Email, "@") {
		errs = append(errs, errors.New("author has to be a plain name and email, such as name: Octo Cat and email: octocat@example.com; leave both out for the token's login"))
	}
	return errors.Join(errs...)
}

// validateLimits is about numbers and times, and about what a session needs to start.
func (c Config) validateLimits() error {
	var errs []error
	for _, n := range []struct {
		key   string
		value int
	}{{"rounds.max", c.Rounds.Max}, {"rounds.attempts", c.Rounds.Attempts}, {"concurrency", c.Concurrency}} {
		if n.value < 1 {
			errs = append(errs, fmt.Errorf("%s is %d; it has to be at least 1", n.key, n.value))
		}
	}
	for _, d := range []struct {
		key   string
		value Duration
	}{{"rounds.backoff", c.Rounds.Backoff}, {"sweep", c.Sweep}, {"engine.timeout", c.Engine.Timeout}, {"engine.idle_timeout", c.Engine.IdleTimeout}, {"worktrees.unused", c.Worktrees.Unused}} {
		if d.value <= 0 {
			errs = append(errs, fmt.Errorf("%s is %s; it has to be longer than nothing, such as 30s", d.key, d.value))
		}
	}
	if c.Worktrees.MaxGB < 0 {
		errs = append(errs, fmt.Errorf("worktrees.max_gb is %d; it has to be a number of gigabytes, or 0 for no bound", c.Worktrees.MaxGB))
	}
	if len(c.Engine.Command) > 0 && c.Engine.Command[0] == "" {
		errs = append(errs, errors.New("engine.command begins with nothing; name the model CLI's program, such as [claude], or leave it out"))
	}
	if c.StateDir == "" {
		errs = append(errs, errors.New("there is no place to keep state, as no home directory is known; name one as state_dir"))
	}
	return errors.Join(errs...)
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	last := len(allowed) - 1
	return fmt.Errorf("%s is %.40q; it has to be %s or %s", key, value, strings.Join(allowed[:last], ", "), allowed[last])
}
