package worktree

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// gitError is a git command that ended with an exit code other than 0.
type gitError struct {
	verb   string
	exit   int
	stderr string // redacted
}

// remedy maps what git or curl say, in the C locale, to what a person can do.
type remedy struct{ says, do string }

// remedies are for what lasts until somebody mends it. The first match wins.
var remedies = []remedy{
	{"No space left on device", "the disk is full: free some space"},
	{"Disk quota exceeded", "the disk quota is used up: free some space"},
	{"Read-only file system", "the disk is read-only: choose another root directory"},
	{"Permission denied", "check who owns the worktree root"},
	{"HTTP 403", "the remote refuses access (403): check what the token may do"},
	{"returned error: 403", "the remote refuses access (403): check what the token may do"},
	{"HTTP 401", "authentication failed (401): check that the token is valid"},
	{"returned error: 401", "authentication failed (401): check that the token is valid"},
	{"Authentication failed", "authentication failed (401): check that the token is valid"},
	{"could not read Username", "authentication failed (401): the remote wants a token, set one or check that it is valid"},
	{"could not read Password", "authentication failed (401): check that the token is valid"},
	{"Repository not found", "check the repository's name and that the token may see it"},
	{"repository not found", "check the repository's name and that the token may see it"},
	{"' not found", "check the repository's name and that the token may see it"},
	{"returned error: 404", "repository not found (404): check its name and that the token may see it"},
	{"does not appear to be a git repository", "check the repository's URL"},
	{"returned error: 30", "the repository has moved: use its new URL"},
}

// outages are what git or curl say when the remote or the way to it is down.
var outages = []remedy{
	{"Could not resolve host", "the remote cannot be reached: check the network and the host name"},
	{"Failed to connect", "the remote cannot be reached: check the network and the URL"},
	{"Connection refused", "the remote cannot be reached: check the network and the URL"},
	{"timed out", "the remote does not answer: try again later"},
	{"Operation too slow", "the remote sends too slowly: try again later"},
	{"returned error: 5", "the remote has a problem of its own: try again later"},
	{"returned error: 429", "the remote is asked too often: try again later"},
	{"Empty reply from server", "the connection broke: try again later"},
	{"Recv failure", "the connection broke: try again later"},
	{"RPC failed", "the connection broke: try again later"},
	{"early EOF", "the connection broke: try again later"},
	{"hung up unexpectedly", "the connection broke: try again later"},
}

func newGitError(c call, exit int, stderr []byte) *gitError {
	text := strings.ToValidUTF8(string(stderr), "�")
	if c.remote != nil && c.remote.Authorization != "" {
		text = strings.ReplaceAll(text, c.remote.Authorization, "***")
		if _, secret, ok := strings.Cut(c.remote.Authorization, " "); ok && secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return &gitError{verb: c.args[0], exit: exit, stderr: text}
}

// Error is git's last line and, where one is known, the remedy.
func (e *gitError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	for _, l := range lines {
		// A fatal line says more than the advice that may follow it.
		if strings.HasPrefix(l, "fatal: ") || strings.HasPrefix(l, "error: ") {
			last = strings.TrimSpace(l)
		}
	}
	if last == "" {
		last = fmt.Sprintf("ended with exit code %d", e.exit)
	}
	for _, r := range slices.Concat(remedies, outages) {
		if e.matches(r) {
			return fmt.Sprintf("git %s: %s (%s)", e.verb, last, r.do)
		}
	}
	return fmt.Sprintf("git %s: %s", e.verb, last)
}

// matches reports whether git said what a remedy is for.
func (e *gitError) matches(r remedy) bool { return strings.Contains(e.stderr, r.says) }

// Is makes an outage match ErrUnavailable, unless git says what a person has to mend: a
// refusal breaks the connection as well.
func (e *gitError) Is(target error) bool {
	return target == ErrUnavailable && slices.ContainsFunc(outages, e.matches) && !slices.ContainsFunc(remedies, e.matches)
}

// exitCode is the exit code of the git command behind err, or -1.
func exitCode(err error) int {
	var e *gitError
	if errors.As(err, &e) {
		return e.exit
	}
	return -1
}

// gitSays reports whether the git command behind err printed text on stderr.
func gitSays(err error, text string) bool {
	var e *gitError
	return errors.As(err, &e) && strings.Contains(e.stderr, text)
}

func (s *Store) binary() string {
	if s.Git == "" {
		return "git"
	}
	return s.Git
}

// CheckGit makes sure, once, that git is there and recent enough. Its error says
// what to install.
func (s *Store) CheckGit(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checked {
		return nil
	}
	cmd := exec.CommandContext(ctx, s.binary(), "version")
	cmd.Env = inherited()
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("git cannot be run: install git 2.38 or newer and put it on PATH: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("git says it is %q, which is not a version: install git 2.38 or newer", strings.TrimSpace(string(out)))
	}
	if major < 2 || major == 2 && minor < 38 {
		return fmt.Errorf("git is %d.%d: install 2.38 or newer", major, minor)
	}
	s.checked = true
	return nil
}
