package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"touchstone/worktree/strictyaml"
)

const (
	// maxFile is the maximum size of a configuration file, in bytes: far above any real one.
	maxFile = 64 << 10
	// maxSecret is the maximum size of a secret, in bytes: above any token or webhook address.
	maxSecret = 4 << 10
)

// Load reads the settings from the file at path, and the secrets from the environment or from the files that
// the settings name. It looks up environment variables with getenv, as os.Getenv does. An empty path means
// $XDG_CONFIG_HOME/touchstone/agent.yaml (%APPDATA%\touchstone\agent.yaml on Windows), which need not exist.
// In settings that hold paths, ~/ is the home directory, and a relative path is relative to the directory of
// the configuration file; so is that of a program, unless it is a plain name, which is searched for on PATH, and that of
// a program's argument if it begins with ./, ../ or ~/ and has no white space.
//
// The errors are for people. Validate checks whether the settings can work, and the code that needs a secret
// reports that it is missing.
func Load(path string, getenv func(string) string) (Config, error) {
	cfg, err := Read(path, getenv)
	if err != nil {
		return cfg, err
	}
	return cfg, cfg.readSecrets(getenv)
}

// Read is Load without the secrets: it opens none of their files, and starts no program.
func Read(path string, getenv func(string) string) (Config, error) {
	cfg := Default()
	required := path != ""
	if !required {
		path = inside(configHome(getenv), "touchstone", "agent.yaml")
	}
	if path == "" {
		cfg.locate("", getenv)
		return cfg, nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return cfg, fmt.Errorf("find the configuration: %w", err)
	}
	cfg.path, cfg.stamp = path, stamp(path)
	err = cfg.read(path)
	cfg.locate(filepath.Dir(path), getenv)
	if err != nil && (required || !errors.Is(err, fs.ErrNotExist)) {
		return cfg, err
	}
	return cfg, nil
}

// CheckText reports what is invalid in a text that is to be the file at path. It reads no secrets.
func CheckText(path string, text []byte) error {
	cfg := Default()
	err := strictyaml.Decode(text, &cfg)
	cfg.locate(filepath.Dir(path), os.Getenv)
	return errors.Join(err, cfg.Validate())
}

// read applies the settings in the file.
func (c *Config) read(path string) error {
	content, err := readFile(path, maxFile)
	if err != nil {
		return fmt.Errorf("read the configuration: %w; correct the file's name, permissions or size", err)
	}
	if err := strictyaml.Decode(content, c); err != nil {
		return fmt.Errorf("read the configuration %s: %w; correct the file: `touchstone config` prints one that explains every key", path, err)
	}
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		c.written = c.written || len(line) > 0 && line[0] != '#'
	}
	return nil
}

// locate makes the paths of files, directories and programs absolute.
func (c *Config) locate(base string, getenv func(string) string) {
	for _, file := range []*string{&c.GitHub.TokenFile, &c.GitHub.AppKeyFile, &c.Relay.TokenFile, &c.Notify.SlackWebhookFile,
		&c.StateDir} {
		*file = locate(*file, base, getenv)
	}
	// Where a command is called, a change may have put a program of that name.
	for _, command := range [][]string{c.GitHub.TokenCommand, c.Engine.Command, c.Engine.ACP.Command} {
		for i, word := range command {
			if i == 0 && filepath.Base(word) != word || Relative(word) {
				command[i] = locate(word, base, getenv)
			}
		}
	}
	if !inRepository(c.Guidelines) {
		c.Guidelines = locate(c.Guidelines, base, getenv)
	}
	for repo, clone := range c.Worktrees.Clones {
		c.Worktrees.Clones[repo] = locate(clone, base, getenv)
	}
	if c.StateDir == "" {
		c.StateDir = inside(stateHome(getenv), "touchstone")
	}
}

// readSecrets reads the secrets from the environment, from files and from programs.
func (c *Config) readSecrets(getenv func(string) string) error {
	c.GitHub.Token = Secret(strings.TrimSpace(getenv("GITHUB_TOKEN")))
	c.GitHub.Renew = c.GitHub.renew(c.GitHub.Token != "")
	return errors.Join(
		c.ReadSecret(&c.GitHub.Token, "github.token_file", c.GitHub.TokenFile),
		c.ReadSecret(&c.GitHub.AppKey, "github.app_key_file", c.GitHub.AppKeyFile),
		askSecret(&c.GitHub.Token, "github.token_command", c.GitHub.TokenCommand, filepath.Dir(c.path), commandTimeout),
		c.ReadRelayToken(getenv),
		c.ReadSecret(&c.Notify.SlackWebhook, "notify.slack_webhook_file", c.Notify.SlackWebhookFile),
	)
}

// ReadRelayToken reads the relay's token alone, after Read.
func (c *Config) ReadRelayToken(getenv func(string) string) error {
	c.Relay.Token = Secret(strings.TrimSpace(getenv("RELAY_TOKEN")))
	return c.ReadSecret(&c.Relay.Token, "relay.token_file", c.Relay.TokenFile)
}

// renew says what to do about a token that GitHub rejects: the environment's wins over all others, and can be an old one.
func (g GitHub) renew(environment bool) string {
	var settings string
	switch {
	case g.TokenFile != "":
		settings = "github.token_file"
	case len(g.TokenCommand) > 0:
		settings = "github.token_command"
	case g.AppID != 0:
		settings = "github.app_id"
	}
	const broken = "is wrong, expired or revoked"
	switch {
	case environment && settings != "":
		return fmt.Sprintf("the token of the environment's GITHUB_TOKEN %s, and it wins over %s: unset it to use that, or create a new one",
			broken, settings)
	case environment:
		return fmt.Sprintf("the token of the environment's GITHUB_TOKEN %s: create a new one and set GITHUB_TOKEN or github.token_file",
			broken)
	case g.TokenFile != "":
		return fmt.Sprintf("the token in %s, which github.token_file names, %s: create a new one and write it into that file",
			g.TokenFile, broken)
	case len(g.TokenCommand) > 0:
		return fmt.Sprintf("the token that github.token_command prints, which is %q, %s: log in again with that program, or correct the setting",
			strings.Join(g.TokenCommand, " "), broken)
	}
	return "" // an App's are renewed
}

// Relative reports whether a word of a command is certainly a path that is not absolute, and not the name of a program, a
// pattern, a flag or, with white space in it, a script for a shell.
func Relative(word string) bool {
	return !strings.ContainsFunc(word, unicode.IsSpace) &&
		slices.ContainsFunc([]string{"./", "../", "~/"}, func(start string) bool { return strings.HasPrefix(word, start) })
}

// locate makes the path of a file absolute.
func locate(file, base string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		return inside(home(getenv), rest)
	}
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(base, file)
}

// ReadSecret reads a secret that the environment does not have, from the file in the setting key.
func (c *Config) ReadSecret(s *Secret, key, file string) error {
	if *s != "" || file == "" {
		return nil
	}
	content, err := readFile(file, maxSecret)
	if err != nil {
		return fmt.Errorf("read the file that %s names: %w; write the secret into it, or correct the setting", key, err)
	}
	if *s = Secret(bytes.TrimSpace(content)); *s == "" {
		return fmt.Errorf("%s names %s, which is empty; write the secret into it", key, file)
	}
	if othersRead(file) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("every user of this machine can read the secret in %s; run chmod 600 on it", file))
	}
	return nil
}

// commandTimeout is the maximum time in which a program must print a secret.
const commandTimeout = 15 * time.Second

// askSecret runs the program in the setting key, in dir, for a secret that has no other source. Where it is called, a
// change may have put files that its arguments name. The error contains
// what the program prints to stderr, but never what it prints as the secret.
func askSecret(s *Secret, key string, command []string, dir string, limit time.Duration) error {
	if *s != "" || len(command) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	program := exec.CommandContext(ctx, command[0], command[1:]...)
	program.Dir, program.WaitDelay = dir, time.Second
	printed, err := program.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it is about child processes that are still running
	}
	failed, exited := errors.AsType[*exec.ExitError](err)
	which := fmt.Sprintf("%s, which is %q,", key, strings.Join(command, " "))
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%s has not ended within %s; if it waits for an answer of yours, such as a password, use one that "+
			"does not, or set GITHUB_TOKEN or github.token_file", which, limit)
	case exited:
		return fmt.Errorf("%s failed: %w: %.300s; run it yourself to see why", which, err, bytes.TrimSpace(failed.Stderr))
	case err != nil:
		return fmt.Errorf("%s cannot be started: %w", which, err)
	case len(printed) > maxSecret:
		return fmt.Errorf("%s prints more than %d bytes; it must print only the token", which, maxSecret)
	}
	if *s = Secret(bytes.TrimSpace(printed)); *s == "" {
		return fmt.Errorf("%s prints nothing; it must print the token", which)
	}
	return nil
}

// readFile reads a file of at most limit bytes. It refuses pipes, so that it never waits for a writer.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return content, nil
}

// inside joins names to dir, or returns nothing if dir is empty.
func inside(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.Join(names...))
}

// xdg returns the directory in a variable of the XDG specification. It ignores relative paths, as the
// specification requires (https://specifications.freedesktop.org/basedir-spec/latest/).
func xdg(variable string, getenv func(string) string) string {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}
