package gitcmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

var (
	// ErrUnavailable means that the remote, or the way to it, is down. The request itself is fine; try again
	// later.
	ErrUnavailable = errors.New("the remote is unavailable")
	// ErrTooLarge means that git printed more than this package reads.
	ErrTooLarge = errors.New("too large")
)

// failure is a git command that ended with an exit code other than 0.
type failure struct {
	verb   string
	exit   int
	stderr string // redacted
	// full, if set, says that the disk had no room when the command failed.
	full error
}

// remedy maps a message of git or curl, in the C locale, to what a person can do.
type remedy struct {
	says, do string
	file     bool // the message names a file, in a line of its own
}

// diskFaults are git's messages, at the end of a line, when the disk accepts no data. Within a line a file
// name could contain the same text, and authors of pull requests choose file names.
var diskFaults = []remedy{
	{says: "No space left on device", do: "the disk is full: free some space"},
	{says: "write error. Out of diskspace", do: "the disk is full: free some space"},
	{says: "Disk quota exceeded", do: "the disk quota is used up: free some space"},
	{says: "Read-only file system", do: "the disk is read-only: make it writable, or choose another root directory"},
	// Git does not give the cause here. It gets this far only if it could create the file.
	{says: "nable to write new index file", do: "the disk is likely to be full: free some space"},
	{says: "nable to write new_index file", do: "the disk is likely to be full: free some space"},
}

// remedies are for faults that last until a person fixes them. The first match wins.
var remedies = []remedy{
	{says: "Permission denied", do: "allow it with chmod, or check who owns the worktree root", file: true},
	{says: "HTTP 403", do: "the remote refuses access (403): check what the token may do"},
	{says: "returned error: 403", do: "the remote refuses access (403): check what the token may do"},
	{says: "HTTP 401", do: "authentication failed (401): check that the token is valid"},
	{says: "returned error: 401", do: "authentication failed (401): check that the token is valid"},
	{says: "Authentication failed", do: "authentication failed (401): check that the token is valid"},
	{says: "could not read Username", do: "authentication failed (401): the remote requires a token, set one or check that it is valid"},
	{says: "could not read Password", do: "authentication failed (401): check that the token is valid"},
	{says: "Repository not found", do: "check the repository's name and that the token may see it"},
	{says: "repository not found", do: "check the repository's name and that the token may see it"},
	{says: "' not found", do: "check the repository's name and that the token may see it"},
	{says: "returned error: 404", do: "repository not found (404): check its name and that the token may see it"},
	{says: "does not appear to be a git repository", do: "check the repository's URL"},
	{says: "returned error: 30", do: "the repository has moved: use its new URL"},
}

// outages are the messages of git or curl when the remote or the way to it is down.
var outages = []remedy{
	{says: "Could not resolve host", do: "the remote cannot be reached: check the network and the host name"},
	{says: "Could not resolve proxy", do: "the proxy cannot be reached: check the network and the variable HTTPS_PROXY"},
	{says: "Proxy CONNECT aborted", do: "the proxy ended the connection: try again later"},
	{says: "CONNECT tunnel failed, response 5", do: "the proxy cannot reach the remote: try again later"},
	{says: "Failed to connect", do: "the remote cannot be reached: check the network and the URL"},
	{says: "Connection refused", do: "the remote cannot be reached: check the network and the URL"},
	{says: "timed out", do: "the remote does not answer: try again later"},
	{says: "Operation too slow", do: "the remote sends too slowly: try again later"},
	{says: "returned error: 5", do: "the remote failed: try again later"},
	{says: "returned error: 429", do: "too many requests to the remote: try again later"},
	{says: "Empty reply from server", do: "the connection broke: try again later"},
	{says: "was not closed cleanly", do: "the connection broke: try again later"}, // a stream of HTTP/2
	{says: "Recv failure", do: "the connection broke: try again later"},
	{says: "transfer closed with", do: "the connection broke: try again later"},
	{says: "SSL_ERROR_SYSCALL", do: "the connection broke: try again later"},
	{says: "TLS connection was non-properly terminated", do: "the connection broke: try again later"},
	{says: "RPC failed", do: "the connection broke: try again later"},
	{says: "early EOF", do: "the connection broke: try again later"},
	{says: "hung up unexpectedly", do: "the connection broke: try again later"},
}

func newFailure(c Command, exit int, stderr []byte) *failure {
	text := strings.ToValidUTF8(string(stderr), "�")
	if c.Remote != nil && c.Remote.Authorization != "" {
		text = strings.ReplaceAll(text, c.Remote.Authorization, "***")
		if _, secret, ok := strings.Cut(c.Remote.Authorization, " "); ok && secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return &failure{verb: c.Args[0], exit: exit, stderr: text}
}

// Error returns git's last line and, if one is known, the remedy.
func (e *failure) Error() string {
	lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	for _, l := range lines {
		// A fatal line is more useful than the advice that may follow it.
		if strings.HasPrefix(l, "fatal: ") || strings.HasPrefix(l, "error: ") {
			last = strings.TrimSpace(l)
		}
	}
	last = cmp.Or(last, fmt.Sprintf("ended with exit code %d", e.exit))
	for _, r := range diskFaults {
		if i := slices.IndexFunc(lines, r.ends); i >= 0 {
			return fmt.Sprintf("git %s: %s (%s)", e.verb, strings.TrimSpace(lines[i]), r.do)
		}
	}
	if e.full != nil {
		return fmt.Sprintf("git %s: %s (%v)", e.verb, last, e.full)
	}
	for _, r := range slices.Concat(remedies, outages) {
		if !e.matches(r) {
			continue
		}
		// If the fault is in a file, another line may name the file.
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, r.says) }); r.file && i >= 0 {
			last = strings.TrimSpace(lines[i])
		}
		return fmt.Sprintf("git %s: %s (%s)", e.verb, last, r.do)
	}
	return fmt.Sprintf("git %s: %s", e.verb, last)
}

// matches reports whether git printed the remedy's message.
func (e *failure) matches(r remedy) bool { return strings.Contains(e.stderr, r.says) }

// ends reports whether a line of git's output, and not of the remote's, ends with the remedy's message.
func (r remedy) ends(line string) bool {
	return strings.HasSuffix(strings.TrimSpace(line), r.says) && !strings.HasPrefix(line, fromRemote)
}

// diskFault reports whether git said that the disk accepts no data, or failed on a disk without room.
func (e *failure) diskFault() bool {
	return e.full != nil || slices.ContainsFunc(strings.Split(e.stderr, "\n"), func(line string) bool {
		return slices.ContainsFunc(diskFaults, func(r remedy) bool { return r.ends(line) })
	})
}

// DiskFault reports whether an error, of git or of the system, says that the disk
// is full, read-only, or beyond its quota.
func DiskFault(err error) bool {
	var failed *failure
	if errors.As(err, &failed) && failed.diskFault() {
		return true
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}

// Is makes an outage match ErrUnavailable, unless git names a fault that a person has to fix: a refusal and a
// full disk break the connection as well.
func (e *failure) Is(target error) bool {
	return target == ErrUnavailable && slices.ContainsFunc(outages, e.matches) && !slices.ContainsFunc(remedies, e.matches) && !e.diskFault()
}

// ExitCode returns the exit code of the git command behind err, or -1.
func ExitCode(err error) int {
	var e *failure
	if errors.As(err, &e) {
		return e.exit
	}
	return -1
}

const (
	// fromRemote begins the lines of git's output that the remote wrote.
	fromRemote = "remote:"
	// maxRemote bounds how much of them is repeated, in bytes.
	maxRemote = 600
)

// RemoteSays returns what the remote said while the git command behind err ran, in one line, at most 600 bytes.
func RemoteSays(err error) string {
	var e *failure
	if !errors.As(err, &e) {
		return ""
	}
	var words []string
	for line := range strings.Lines(e.stderr) {
		if said, ok := strings.CutPrefix(line, fromRemote); ok {
			words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(said), "error: "))...)
		}
	}
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.Join(words, " "))
	return strings.ToValidUTF8(text[:min(len(text), maxRemote)], "")
}

// Says reports whether the git command behind err printed text on stderr.
func Says(err error, text string) bool {
	var e *failure
	return errors.As(err, &e) && strings.Contains(e.stderr, text)
}
