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
	"slices"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine/engines"
	"touchstone/agent/forge"
)

// probeTimeout bounds how long a program may take to show whether it is usable.
const probeTimeout = 10 * time.Second

// GHToken returns the command with which GitHub's own CLI prints the token of its login
// (https://cli.github.com/manual/gh_auth_token); nil if the CLI is not installed, or has no login there. It names the
// host, because the CLI may be logged in to several, and their tokens are not each other's business.
func GHToken(ctx context.Context, apiURL string) []string {
	host, err := forge.Config{APIURL: apiURL}.Host()
	if err != nil {
		return nil
	}
	command := []string{"gh", "auth", "token", "--hostname", host}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if exec.CommandContext(ctx, command[0], command[1:]...).Run() != nil {
		return nil
	}
	return command
}

// Engine returns the engine to use: the configured one if its model CLI is installed, else another one with
// an installed CLI, else the configured one. gemini is driven by the engine acp, which uses it unless another
// command is configured.
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

// UseEngine returns the changes of settings to another engine. A model without an engine in front is the present one's: it
// leaves the choice to the other one.
func UseEngine(settings config.Engine, name string) []Change {
	changes := []Change{{Key: "engine.name", Value: name}}
	if name == settings.Name {
		return changes
	}
	present := func(model string) bool {
		of, _ := config.Choice(model)
		return of == "" && model != ""
	}
	if present(settings.Model) {
		changes = append(changes, Change{Key: "engine.model", Value: ""})
	}
	settings.Model = "" // a task's own model, below, is in its place
	for _, task := range config.Tasks() {
		if present(settings.ModelFor(task)) {
			changes = append(changes, Change{Key: "engine.models." + string(task), Value: ""})
		}
	}
	if slices.ContainsFunc(settings.Fallback, present) {
		changes = append(changes, Change{Key: "engine.fallback", Value: slices.DeleteFunc(slices.Clone(settings.Fallback), present)})
	}
	return changes
}

// Checkout returns the top directory of the clone that contains dir. Its error says that dir is in no clone.
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

// firstGuideline is the initial text of a repository's own guidelines.
//
//go:embed first-guideline.md
var firstGuideline string

// Seed creates the directory .touchstone of the repository at top: a first guideline document and the
// settings, all with their defaults. Existing files stay, and nothing is created outside of the repository,
// even through links. It returns the names of the created files.
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
