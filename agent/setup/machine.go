package setup

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine/engines"
)

// GHToken is the command with which GitHub's own CLI prints the token of its login
// (https://cli.github.com/manual/gh_auth_token).
var GHToken = []string{"gh", "auth", "token"}

// probeTimeout is how long a program may take to say whether it is of use.
const probeTimeout = 10 * time.Second

// HasGH reports whether GitHub's own CLI is there and logged in.
func HasGH(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return exec.CommandContext(ctx, GHToken[0], GHToken[1:]...).Run() == nil
}

// Engine is the engine to use: the one that is configured if its model CLI is there, else one whose is, and
// the configured one if none is. gemini is driven by the engine acp, which speaks to it unless it has a command of its own.
func Engine(configured config.Engine) string {
	if len(configured.Command) > 0 {
		return configured.Name
	}
	for _, name := range append([]string{configured.Name}, engines.Names()...) {
		program := name
		if name == "acp" {
			program = append(configured.ACP.Command, "gemini")[0]
		}
		if _, err := exec.LookPath(program); err == nil {
			return name
		}
	}
	return configured.Name
}

// Checkout is the top directory of the clone that dir is in. The error says that it is in none.
func Checkout(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel")
	cmd.Dir = dir
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s is in no clone", dir)
	}
	return strings.TrimSpace(string(said)), nil
}

// firstGuideline is what a repository's own guidelines begin as.
//
//go:embed first-guideline.md
var firstGuideline string

// Seed makes the directory .touchstone of the repository at top: a first guideline document and the
// settings, all as they are by default. What is there stays, and nothing is made outside of the
// repository, wherever links in it lead. It returns the names of what it made.
func Seed(top string) ([]string, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var made []string
	for name, text := range map[string]string{
		filepath.Join(".touchstone", "guidelines", "local.md"): firstGuideline,
		filepath.FromSlash(config.RepositoryPath):              config.RepositoryExample,
	} {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return made, err
			}
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return made, fmt.Errorf("make the directory of %s: %w", filepath.Join(top, name), err)
		}
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return made, err
		}
		made = append(made, name)
	}
	return made, nil
}
