// Package sandbox confines a child process and its descendants: they can only write to named files and
// directories, and cannot read where programs keep logins. The network stays open, since builds download and
// tests listen, unless Rules.Connect or Rules.Alone is set.
//
// The package knows how to do this on each platform, and stores nothing: Landlock
// (https://docs.kernel.org/userspace-api/landlock.html) on Linux 6.2 or newer, sandbox-exec on macOS, and
// nothing elsewhere.
package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"touchstone/worktree/layout"
)

// Rules say what a confined process may do.
type Rules struct {
	// Write are the files and directories that it may write and read. A missing one is created, as a
	// directory.
	Write []string
	// Hide are the files and directories whose content it may not read, except what Write and Show name.
	Hide []string
	// Show are the files and directories inside hidden ones that it may read.
	Show []string
	// Connect, if not empty, are the only ports to which it may open TCP connections, and it may not send by
	// any other protocol. This is enforced where Network returns no error. Empty leaves the network open.
	Connect []uint16
	// Alone gives it a network namespace of its own, in which it can only reach itself. If that is not
	// possible, the process does not start; see process.Command.
	Alone bool
}

// Reviewer are the rules for a session that reads the given directories and only writes in its own home
// directory. It may not read the same files as an Author.
func Reviewer(dirs []string, home, user string, private []string) Rules {
	return Rules{
		Write: []string{home},
		Hide:  append(Logins(user), private...),
		Show:  append([]string{mirror(dirs[0])}, dirs...),
	}
}

// Author are the rules for what an author runs in a worktree, the first of the directories; the others can be
// read. It has its own home directory and environment. It may read the repository that the worktree belongs
// to, but neither the private files nor those in which programs keep logins below the user's home.
func Author(dirs []string, home string, env []string, user string, private []string) Rules {
	return Rules{
		Write: append(Caches(env), dirs[0], home),
		Hide:  append(Logins(user), private...),
		Show:  append([]string{mirror(dirs[0])}, dirs[1:]...),
	}
}

// mirror is the repository of a worktree, at the path at which package worktree stores it. What the
// worktree's own files say about that path is not trusted: the confined process may have written them.
func mirror(dir string) string { return layout.Around(dir).Mirror() }

// Level is the mechanism that confines on this machine, such as "landlock". The error says why there is none.
func Level() (string, error) { return level() }

// Network says why Rules.Connect cannot be enforced on this machine; nil if it can.
func Network() error { return network() }

// Gaps say what a confined process can still reach on this machine, one sentence fragment each, for people to
// close.
func Gaps() []string { return gaps() }

// Bootstrap must be the first call of every program that confines others. If the program was started by
// itself to take on rules, Bootstrap does that, becomes the intended program, and does not return. Without
// it, nothing can be confined.
func Bootstrap() {
	enterIfConfined()
	bootstrapped = true
}

// bootstrapped says that main has called Bootstrap. A program that has not would run its own main instead of
// confining.
var bootstrapped bool

// Wrap returns the program and the arguments, including the name, to run in place of the given ones so that
// they are confined. If nothing confines on this machine, they are unchanged.
func (r Rules) Wrap(path string, args []string) (string, []string, error) {
	if _, err := level(); err != nil {
		return path, args, nil
	}
	rules, err := r.resolved()
	if err != nil {
		return "", nil, err
	}
	path, args = wrap(rules, path, args)
	return path, args, nil
}

// Shell returns a script that replaces the shell at a path. What the script starts is confined by these rules
// in addition to those of the process that runs it, and can neither inspect nor end that process. Its
// environment lacks the variables in drop and has those in set, as "name=value". The script is empty if a
// confined process cannot be confined further.
func (r Rules) Shell(path string, drop, set []string) (string, error) {
	if _, err := level(); err != nil {
		return "", nil
	}
	rules, err := r.resolved()
	if err != nil {
		return "", err
	}
	return shell(rules, path, drop, set)
}

// resolved returns the rules with symbolic links resolved.
func (r Rules) resolved() (Rules, error) {
	if !bootstrapped {
		return Rules{}, errors.New("this program cannot confine others: its main does not call sandbox.Bootstrap first")
	}
	for _, dir := range r.Write {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return Rules{}, fmt.Errorf("make a directory for the sandbox: %w", err)
			}
		}
	}
	temporary, memory := []string{os.TempDir()}, []string{"/dev/shm"}
	for _, places := range []*[]string{&r.Write, &r.Hide, &r.Show, &temporary, &memory} {
		var err error
		if *places, err = existing(*places); err != nil {
			return Rules{}, err
		}
	}
	// Programs also share memory by files in /dev/shm. If that directory contains other named paths, it stays
	// closed.
	others := slices.Concat(r.Write, r.Hide, r.Show, temporary)
	memory = slices.DeleteFunc(memory, func(dir string) bool { return within(dir, others) })
	r.Write = append(r.Write, memory...)
	return r, nil
}

// within reports whether one of the paths is the directory or below it.
func within(dir string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return place == dir || strings.HasPrefix(place, dir+"/") })
}

// existing leaves out paths that do not exist, such as one below a file, and those that cannot be reached anyway.
func existing(places []string) ([]string, error) {
	var found []string
	for _, place := range places {
		path, err := filepath.Abs(place)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		switch {
		case err == nil:
			found = append(found, path)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOTDIR):
			return nil, fmt.Errorf("find the sandbox's places: %w", err)
		}
	}
	return found, nil
}

// logins are the paths below a home directory in which programs keep logins, and shells what was typed.
var logins = []string{
	".ssh", ".gnupg", ".netrc", "_netrc", ".git-credentials", ".password-store", ".vault-token", ".config/git", ".gitconfig",
	".config/gh", ".config/hub", ".config/glab-cli", ".config/github-copilot", ".config/touchstone",
	".aws", ".azure", ".kube", ".docker", ".oci", ".boto", ".s3cfg", ".terraform.d", ".terraformrc", ".config/gcloud",
	".config/containers", ".config/helm", ".config/rclone", ".config/sops", ".config/op", ".config/doctl", ".config/hcloud",
	".config/stripe", ".config/age", ".config/heroku", ".fly", ".pulumi/credentials.json", ".config/netlify", ".config/ngrok",
	".config/.wrangler", ".wrangler", ".config/configstore", ".local/share/com.vercel.cli", ".gemini",
	".pgpass", ".my.cnf", ".mylogin.cnf", ".cache/huggingface/token", ".huggingface/token",
	".config/go", "Library/Application Support/go", // proxies may have passwords
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".config/pip", ".config/pypoetry", ".bundle/config", ".gem/credentials",
	".cargo/config", ".cargo/config.toml", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml",
	".m2/settings-security.xml", ".gradle/gradle.properties", ".sbt/.credentials", ".ivy2/.credentials",
	".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet/NuGet.Config",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".local/share/fish/fish_history",
	".claude", ".claude.json", ".codex", ".config/opencode", ".local/share/opencode", ".local/share/keyrings", "Library/Keychains",
	".mozilla", ".thunderbird", "snap/firefox", "snap/chromium", "snap/thunderbird", ".var/app",
	".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
	"Library/Application Support/Google", "Library/Application Support/Firefox", "Library/Application Support/BraveSoftware",
	"Library/Application Support/Microsoft Edge", "Library/Cookies",
}

// Logins are the paths below a home directory in which programs keep logins, and this program's own. Without
// a home, it is only the latter.
func Logins(home string) []string {
	var places []string
	for _, name := range logins {
		if home != "" {
			places = append(places, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	if dir, err := os.UserConfigDir(); err == nil {
		places = append(places, filepath.Join(dir, "touchstone"))
	}
	return places
}

// caches are the variables that say where builds keep what they have downloaded and made.
var caches = []string{"GOCACHE", "GOMODCACHE"}

// Caches returns the directories in which builds keep what they have downloaded and made, according to their
// environment.
func Caches(env []string) []string {
	var dirs []string
	for _, entry := range env {
		for _, name := range caches {
			if dir, ok := strings.CutPrefix(entry, name+"="); ok && filepath.IsAbs(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}
