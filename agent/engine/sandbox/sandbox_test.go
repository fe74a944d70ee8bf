package sandbox_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/sandbox"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// confined runs a shell script under rules and gives what it printed.
func confined(t *testing.T, rules sandbox.Rules, script string, args ...string) (string, error) {
	t.Helper()
	if _, err := sandbox.Level(); err != nil {
		if os.Getenv("CI") == "true" && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, so that nothing is known of the sandbox: ", err)
	}
	path, argv, err := rules.Wrap("/bin/sh", append([]string{"sh", "-c", script, "sh"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Args[0] = argv[0]
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// landlock is the version that this machine has of it; 0 is none.
func landlock() (version int) {
	level, _ := sandbox.Level()
	_, _ = fmt.Sscanf(level, "landlock, version %d", &version)
	return version
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatMayBeWritten(t *testing.T) {
	t.Parallel()
	inside, outside := t.TempDir(), t.TempDir()
	canary := write(t, filepath.Join(outside, "canary"), "alive")
	link := filepath.Join(inside, "link")
	if err := os.Symlink(canary, link); err != nil {
		t.Fatal(err)
	}
	rules := sandbox.Rules{Write: []string{inside, filepath.Join(inside, "cache", "made")}}
	for _, test := range []struct {
		script string
		works  bool
	}{
		{`mkdir "$1/d" && echo x > "$1/d/f" && mkdir "$1/e" && mv "$1/d/f" "$1/e/f" && cat "$1/e/f" && rm -r "$1/d" "$1/e"`, true},
		{`echo x > "$1/cache/made/f"`, true},
		{`echo x > /dev/null`, true},
		{`cat "$2/canary"`, true},
		{`echo x > "$2/new"`, false},
		{`echo x > "$2/canary"`, false},
		{`echo x >> "$1/link"`, false},
		{`: > "$1/link"`, false},
		{`rm "$2/canary"`, false},
		{`mkdir "$2/d"`, false},
		{`ln "$2/canary" "$1/hard"`, false},
		{`mv "$2/canary" "$1/moved"`, false},
		{`cd "$1" && sh -c 'echo x > "$1/new"' sh "$2"`, false},
	} {
		t.Run(test.script, func(t *testing.T) {
			if out, err := confined(t, rules, test.script, inside, outside); (err == nil) != test.works {
				t.Errorf("%q, %v; want it to work: %t", out, err, test.works)
			}
		})
	}
	if content, err := os.ReadFile(canary); err != nil || string(content) != "alive" {
		t.Errorf("the canary is %q, %v", content, err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside there is %v, %v", left, err)
	}
}

func TestCredentialsAreHiddenFromTheChild(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ".ssh", "id"), "SECRET")
	write(t, filepath.Join(home, ".netrc"), "SECRET")
	write(t, filepath.Join(home, ".gitconfig"), "SECRET")
	write(t, filepath.Join(home, "real", "gcloud", "token"), "SECRET")
	write(t, filepath.Join(home, ".config", "editor"), "plain")
	write(t, filepath.Join(home, ".claude", "work", "file"), "plain")
	for name, target := range map[string]string{".config/gcloud": filepath.Join(home, "real", "gcloud"), "way": home} {
		if err := os.Symlink(target, filepath.Join(home, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	rules := sandbox.Rules{Write: []string{filepath.Join(home, ".claude", "work")}, Hide: sandbox.Logins(home)}
	for path, shown := range map[string]bool{
		".ssh/id": false, ".netrc": false, ".gitconfig": false, "real/gcloud/token": false, ".config/gcloud/token": false, "way/.ssh/id": false,
		".config/editor": true, ".claude/work/file": true,
	} {
		out, err := confined(t, rules, `cat "$1"`, filepath.Join(home, filepath.FromSlash(path)))
		if shown && out != "plain" || !shown && (err == nil || strings.Contains(out, "SECRET")) {
			t.Errorf("%s is read as %q, %v; want it shown: %t", path, out, err, shown)
		}
	}
}

// TestAFileInPlaceOfADirectoryHidesNothingBelow has a file where some program would keep a directory with
// logins.
func TestAFileInPlaceOfADirectoryHidesNothingBelow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ".bundle"), "plain")
	write(t, filepath.Join(home, ".netrc"), "SECRET")
	if out, err := confined(t, sandbox.Rules{Hide: sandbox.Logins(home)}, `cat "$1"`, filepath.Join(home, ".bundle")); out != "plain" {
		t.Errorf("it is read as %q, %v", out, err)
	}
	if out, err := confined(t, sandbox.Rules{Hide: sandbox.Logins(home)}, `cat "$1"`, filepath.Join(home, ".netrc")); err == nil {
		t.Errorf("a login is read as %q", out)
	}
}

// Programs keep secrets in shared memory, so that they are never on a disk.
func TestHiddenFilesInSharedMemoryStayUnread(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/dev/shm", "touchstone-")
	if err != nil {
		t.Skip("SKIPPED: there is no shared memory with a path here: ", err)
	}
	defer os.RemoveAll(dir)
	token := write(t, filepath.Join(dir, "token"), "SECRET")
	if out, err := confined(t, sandbox.Rules{Hide: []string{token}}, `cat "$1"; echo x > "$1"; rm "$1"`, token); err == nil ||
		strings.Contains(out, "SECRET") {
		t.Errorf("the token is read as %q, %v", out, err)
	}
	if content, err := os.ReadFile(token); err != nil || string(content) != "SECRET" {
		t.Errorf("the token is %q, %v", content, err)
	}
	if out, err := confined(t, sandbox.Rules{}, `echo x > "$1"`, token); err != nil {
		t.Errorf("with nothing hidden there, nothing can be written: %q, %v", out, err)
	}
}

// TestTemporaryFilesInSharedMemory: a session writes to its own alone.
func TestTemporaryFilesInSharedMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "touchstone-")
	if err != nil {
		t.Skip("SKIPPED: there is no shared memory with a path here: ", err)
	}
	defer os.RemoveAll(dir)
	own, others := filepath.Join(dir, "own"), write(t, filepath.Join(dir, "others", "file"), "plain")
	const try = `cat "$1" && ! (echo x >> "$1") && ! rm "$1"`
	if out, err := confined(t, sandbox.Rules{Write: []string{own}}, try+` && echo x > "$2/file"`, others, own); err != nil {
		t.Errorf("what a session writes there is more, or less, than its own: %q, %v", out, err)
	}
	t.Setenv("TMPDIR", dir)
	if out, err := confined(t, sandbox.Rules{}, try, others); err != nil {
		t.Errorf("a session writes to temporary files of others: %q, %v", out, err)
	}
	if content, err := os.ReadFile(others); err != nil || string(content) != "plain" {
		t.Errorf("the file of others holds %q, %v", content, err)
	}
}

// TestAnAuthorReadsItsOwnAlone lays a state directory out as the worktrees are, and secrets
// in places of the user's choice.
func TestAnAuthorReadsItsOwnAlone(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	state := filepath.Join(user, "state")
	repo := filepath.Join(state, "worktrees", "acme", "app")
	dir, home := filepath.Join(repo, "1-author"), filepath.Join(state, "tmp", "author", "session")
	for place, content := range map[string]string{
		"token": "SECRET", "near": "plain",
		"state/journal/author/log": "SECRET", "state/tmp/author/other/x": "SECRET",
		"state/worktrees/acme/app/2-author/x":         "SECRET",
		"state/worktrees/acme/private/mirror.git/x":   "SECRET",
		"state/worktrees/acme/app/mirror.git/objects": "plain",
		"state/worktrees/acme/app/1-author/x":         "plain",
		"state/tmp/author/session/x":                  "plain",
	} {
		path := write(t, filepath.Join(user, filepath.FromSlash(place)), content)
		rules := sandbox.Author([]string{dir}, home, nil, user, []string{filepath.Join(user, "token"), state})
		out, err := confined(t, rules, `cat "$1"`, path)
		if content == "plain" && out != content || content == "SECRET" && (err == nil || strings.Contains(out, content)) {
			t.Errorf("%s is read as %q, %v", place, out, err)
		}
	}
	rules := sandbox.Author([]string{dir}, home, nil, user, []string{state})
	if out, err := confined(t, rules, `echo x > "$1"`, filepath.Join(repo, "mirror.git", "objects")); err == nil {
		t.Errorf("the mirror was written to: %q", out)
	}
}

// TestConfinedChildReachesNoOtherProcess has a confined child try to read this process's environment, where tokens
// may be, and to kill it.
func TestConfinedChildReachesNoOtherProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux has /proc, and only its sandbox holds signals")
	}
	bystander := exec.Command("sleep", "600")
	bystander.Env = []string{"TOKEN=SECRET"}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	}()
	pid := fmt.Sprint(bystander.Process.Pid)
	if out, err := confined(t, sandbox.Rules{}, `cat "/proc/$1/environ"`, pid); err == nil || strings.Contains(out, "SECRET") {
		t.Errorf("the environment of another process is read: %q", out)
	}
	if landlock() < 6 {
		t.Skip("SKIPPED: what there is does not hold signals")
	}
	if out, err := confined(t, sandbox.Rules{}, `kill -KILL "$1"`, pid); err == nil {
		t.Errorf("another process was killed: %q", out)
	}
	if out, err := confined(t, sandbox.Rules{}, `sleep 600 & kill -KILL $! && wait $!; echo $?`); err != nil ||
		!strings.HasSuffix(out, "137") {
		t.Errorf("its own child could not be killed: %q, %v", out, err)
	}
}

// TestAbstractSockets: a socket without a path leads to any program that listens there, such as a
// session's bus, unless that is inside too.
func TestAbstractSockets(t *testing.T) {
	if address := os.Getenv("TOUCHSTONE_TEST_DIAL"); address != "" {
		conn, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		return
	}
	t.Parallel()
	if landlock() < 6 {
		t.Skip("SKIPPED: what there is does not hold abstract sockets")
	}
	address := "@touchstone-" + rand.Text()
	listener, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	const dial = `TOUCHSTONE_TEST_DIAL="$2" exec "$1" -test.run '^TestAbstractSockets$'`
	if out, err := exec.Command("/bin/sh", "-c", dial, "sh", os.Args[0], address).CombinedOutput(); err != nil {
		t.Fatalf("unconfined it is not reached either: %s", out)
	}
	if out, err := confined(t, sandbox.Rules{}, dial, os.Args[0], address); err == nil || !strings.Contains(out, "not permitted") {
		t.Errorf("the socket was reached: %q, %v", out, err)
	}
}

// TestPathSockets: a service of the user's is out of reach by its path, and one of the session's
// own is not.
func TestPathSockets(t *testing.T) {
	if address := os.Getenv("TOUCHSTONE_TEST_PATH"); address != "" {
		conn, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		return
	}
	t.Parallel()
	if landlock() < 9 {
		t.Skip("SKIPPED: what there is does not hold sockets with a path")
	}
	inside, outside := t.TempDir(), t.TempDir()
	for dir, works := range map[string]bool{inside: true, outside: false} {
		listener, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		out, err := confined(t, sandbox.Rules{Write: []string{inside}}, `TOUCHSTONE_TEST_PATH="$2" exec "$1" -test.run '^TestPathSockets$'`,
			os.Args[0], listener.Addr().String())
		if (err == nil) != works {
			t.Errorf("%s: %q, %v; want it reached: %t", listener.Addr(), out, err, works)
		}
	}
}

// TestAProfileQuotesStrangeNames reads back what the profile for macOS says of places with unusual names, in the
// way in which a Scheme reads strings.
func TestAProfileQuotesStrangeNames(t *testing.T) {
	t.Parallel()
	strange := []string{`/Users/o'brien (work)/a b`, `/q"uote`, `/back\slash`, `/both\"`, `/;semi")(allow file-write* (subpath "/`,
		"/new\nline", "/ümläut"}
	text := sandbox.Profile(sandbox.Rules{Write: strange, Hide: []string{"/hidden"}, Show: []string{"/hidden/shown"}})
	var forms []string
	for rest := text; rest != ""; {
		form, after, ok := read(rest)
		if !ok {
			t.Fatalf("this is no list: %s", rest)
		}
		forms, rest = append(forms, form), strings.TrimSpace(after)
	}
	want := []string{"version 1", "allow default", "deny file-write*"}
	for _, place := range append(strange, "/dev") {
		want = append(want, "allow file-write* subpath "+place)
	}
	want = append(want, "deny file-read-data subpath /hidden", "allow file-read-data subpath /hidden/shown")
	for _, place := range strange {
		want = append(want, "allow file-read-data subpath "+place)
	}
	if !slices.Equal(forms, want) {
		t.Errorf("it says\n%q; want\n%q", forms, want)
	}
}

// read takes one list from the beginning of a Scheme's text and gives its words.
func read(text string) (form, rest string, ok bool) {
	var word strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
			word.WriteByte(text[i])
		case c == '"':
			quoted = !quoted
		case quoted:
			word.WriteByte(c)
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return word.String(), text[i+1:], true
			}
		default:
			word.WriteByte(c)
		}
	}
	return "", "", false
}

// TestGapsAreReported: what cannot be held is told of.
func TestGapsAreReported(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: gaps are looked for on Linux")
	}
	if landlock() >= 9 {
		t.Skip("SKIPPED: this Linux leaves none")
	}
	path := filepath.Join(t.TempDir(), "agent")
	t.Setenv("SSH_AUTH_SOCK", path)
	if told := strings.Join(sandbox.Gaps(), "\n"); strings.Contains(told, path) {
		t.Errorf("without a socket it tells of one: %s", told)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if told := strings.Join(sandbox.Gaps(), "\n"); !strings.Contains(told, "the service behind "+path) {
		t.Errorf("it tells of %q", told)
	}
}

func TestNetworkIsLeftOpen(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	curl, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash to connect with (as on Debian: apt install bash)")
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if out, err := confined(t, sandbox.Rules{}, `exec "$1" -c "echo > /dev/tcp/127.0.0.1/$2"`, curl, port); err != nil {
		t.Errorf("the port could not be reached: %q, %v", out, err)
	}
}

func TestOnlyNamedPortsCanBeReached(t *testing.T) {
	t.Parallel()
	if landlock() < 4 {
		t.Skip("SKIPPED: this Linux does not hold connections")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash to connect with (as on Debian: apt install bash)")
	}
	var ports []uint16
	for range 2 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		address, _ := listener.Addr().(*net.TCPAddr)
		ports = append(ports, address.AddrPort().Port())
	}
	for i, port := range ports {
		out, err := confined(t, sandbox.Rules{Connect: ports[:1]}, `exec "$1" -c "echo > /dev/tcp/127.0.0.1/$2"`, bash, strconv.Itoa(int(port)))
		if reached, may := err == nil, i == 0; reached != may {
			t.Errorf("port %d of two is reached: %t, want %t: %q, %v", i, reached, may, out, err)
		}
	}
}

func TestExitAndOutputAreThePrograms(t *testing.T) {
	t.Parallel()
	out, err := confined(t, sandbox.Rules{}, `echo "$0 $1"; exit 7`, "an argument")
	var exit *exec.ExitError
	if out != "sh an argument" || !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("%q, %v", out, err)
	}
}

func TestOnlyDirectoriesOfBuildCachesAreCaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := sandbox.Caches([]string{"GOCACHE=" + dir, "GOMODCACHE=off", "GOPROXY=" + dir, "HOME=" + dir})
	if len(got) != 1 || got[0] != dir {
		t.Errorf("caches = %q", got)
	}
}

// BenchmarkStart measures what the sandbox adds to the start of a program, beside the
// program alone: added-ms is the difference of the least times.
func BenchmarkStart(b *testing.B) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	rules := sandbox.Rules{Write: []string{b.TempDir()}, Hide: sandbox.Logins(home)}
	path, argv, err := rules.Wrap("/bin/sh", []string{"sh", "-c", ":"})
	if err != nil {
		b.Fatal(err)
	}
	start := func(path string, argv []string) time.Duration {
		cmd := exec.Command(path)
		cmd.Args = argv
		started := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(started)
	}
	bare, wrapped := time.Hour, time.Hour
	for b.Loop() {
		bare = min(bare, start("/bin/sh", []string{"sh", "-c", ":"}))
		wrapped = min(wrapped, start(path, argv))
	}
	b.ReportMetric(float64((wrapped-bare).Microseconds())/1000, "added-ms")
}
