// Package sandbox confines a child process and all that it starts: it writes in the
// places named to it and nowhere else, and cannot read what programs keep logins in.
// The network stays open, since builds download and tests listen, unless Rules.Connect or
// Rules.Alone is set.
//
// It owns how that is done on each platform, and stores nothing: Landlock
// (https://docs.kernel.org/userspace-api/landlock.html) on Linux 6.2 and newer,
// sandbox-exec on macOS, and nothing elsewhere.
package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/worktree/layout"
)

// Rules say what a confined process may do.
type Rules struct {
	// Write are the files and directories that it may write to and read. What is not
	// there is made, as a directory.
	Write []string
	// Hide are the files and directories whose content it may not read, but for what
	// Write and Show name.
	Hide []string
	// Show are the files and directories below hidden ones that it may read all the same.
	Show []string
	// Connect, if not empty, are the only ports to which it may open TCP connections, and it may
	// send nothing by other protocols, where Network has no error. Empty leaves the network open.
	Connect []uint16
	// Alone gives it a network of its own, in which it reaches itself and nothing else. It is
	// refused where it cannot be had; see process.Command.
	Alone bool
}

// Reviewer are the rules for a session that reads a directory and others beside it, with a
// home of its own, in which alone it writes; what it may not read is the same as for an Author.
func Reviewer(dirs []string, home, user string, private []string) Rules {
	return Rules{
		Write: []string{home},
		Hide:  append(Logins(user), private...),
		Show:  append([]string{mirror(dirs[0])}, dirs...),
	}
}

// Author are the rules for what an author runs in a worktree, the first of some directories of which it
// reads the others, with a home of its own and an environment. It may read the repository that the
// worktree belongs to, but neither the private places nor what programs of the user, whose home is
// given, keep logins in.
func Author(dirs []string, home string, env []string, user string, private []string) Rules {
	return Rules{
		Write: append(Caches(env), dirs[0], home),
		Hide:  append(Logins(user), private...),
		Show:  append([]string{mirror(dirs[0])}, dirs[1:]...),
	}
}

// mirror is the repository of a worktree, where the package worktree puts it. What the worktree
// itself says of the place may have been written by whom this is about.
func mirror(dir string) string { return layout.Around(dir).Mirror() }

// Level is what confines on this machine, such as "landlock"; the error says why
// nothing does.
func Level() (string, error) { return level() }

// Network is why Rules.Connect cannot be held on this machine; nil where it is.
func Network() error { return network() }

// Gaps say what of this machine a confined process reaches all the same, each as what it
// is, for people to close.
func Gaps() []string { return gaps() }

// Bootstrap is the first call of every program that confines others. Where the program was
// started by itself to take on rules, Bootstrap does that, becomes the program that is meant,
// and does not return. Without it, nothing can be confined.
func Bootstrap() {
	enterIfConfined()
	bootstrapped = true
}

// bootstrapped says that main has called Bootstrap: a program that has not would run anew where
// it is to confine.
var bootstrapped bool

var errNoBootstrap = errors.New("this program cannot confine others: its main does not begin with sandbox.Bootstrap")

// Wrap gives the program and the arguments, the first being its name, to run in the
// place of others so that those are confined. Where nothing confines they are as they were.
func (r Rules) Wrap(path string, args []string) (string, []string, error) {
	if _, err := level(); err != nil {
		return path, args, nil
	}
	if !bootstrapped {
		return "", nil, errNoBootstrap
	}
	rules, err := r.resolved()
	if err != nil {
		return "", nil, err
	}
	return wrap(rules, path, args)
}

// Shell gives a script that stands for a shell, which is named by its path. What it starts is
// confined by these rules and by those of the process that runs the script, and can neither look
// into that process nor end it. It is without the variables whose names are in drop, and has
// those in set, as "name=value". The script is empty where what is confined cannot be confined
// further.
func (r Rules) Shell(path string, drop, set []string) (string, error) {
	if _, err := level(); err != nil {
		return "", nil
	}
	if !bootstrapped {
		return "", errNoBootstrap
	}
	rules, err := r.resolved()
	if err != nil {
		return "", err
	}
	return shell(rules, path, drop, set)
}

// resolved has all places without symbolic links.
func (r Rules) resolved() (Rules, error) {
	for _, dir := range r.Write {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return Rules{}, fmt.Errorf("make a directory for the sandbox: %w", err)
			}
		}
	}
	write, err := existing(r.Write)
	if err != nil {
		return Rules{}, err
	}
	hide, err := existing(r.Hide)
	if err != nil {
		return Rules{}, err
	}
	show, err := existing(r.Show)
	if err != nil {
		return Rules{}, err
	}
	temporary, err := existing([]string{os.TempDir()})
	if err != nil {
		return Rules{}, err
	}
	memory, err := existing([]string{"/dev/shm"})
	if err != nil {
		return Rules{}, err
	}
	// Programs share memory by files, too. Where other things lie there, it stays closed.
	others := slices.Concat(write, hide, show, temporary)
	memory = slices.DeleteFunc(memory, func(dir string) bool { return within(dir, others) })
	write = append(write, memory...)
	return Rules{Write: write, Hide: hide, Show: show, Connect: r.Connect, Alone: r.Alone}, nil
}

// within reports whether one of some places is a directory or below it.
func within(dir string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return place == dir || strings.HasPrefix(place, dir+"/") })
}

// existing leaves out what is not there, and what is out of reach anyway.
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
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("find the sandbox's places: %w", err)
		}
	}
	return found, nil
}

// logins are where programs keep logins, and shells what was typed, below a home.
var logins = []string{
	".ssh", ".gnupg", ".netrc", "_netrc", ".git-credentials", ".password-store", ".vault-token", ".config/git", ".gitconfig",
	".config/gh", ".config/hub", ".config/glab-cli", ".config/github-copilot", ".config/touchstone",
	".aws", ".azure", ".kube", ".docker", ".oci", ".boto", ".s3cfg", ".terraform.d", ".terraformrc", ".config/gcloud",
	".config/containers", ".config/helm", ".config/rclone", ".config/sops", ".config/op", ".config/doctl", ".config/hcloud",
	".config/stripe", ".config/age", ".config/heroku", ".fly", ".pulumi/credentials.json", ".config/netlify", ".config/ngrok",
	".config/.wrangler", ".wrangler", ".config/configstore", ".local/share/com.vercel.cli", ".gemini",
	".pgpass", ".my.cnf", ".mylogin.cnf", ".cache/huggingface/token", ".huggingface/token",
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

// Logins are the places below a home in which programs keep logins, and this one its own;
// without a home, the latter alone.
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

// Caches gives the directories in which builds keep what they have downloaded and made,
// by the environment that they get.
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
