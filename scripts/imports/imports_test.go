// Package imports holds the rules of who may import whom. It has to run with
// -count=1: Go's test cache does not notice a new import in another package.
package imports

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "touchstone/"

// pkg is what `go list` says of a package, its path without the module's.
type pkg struct {
	Path    string `json:"ImportPath"`
	Dir     string
	Imports []string
	GoFiles []string
	// TestImports and XTestImports are what its tests import.
	TestImports, XTestImports []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,GoFiles,TestImports,XTestImports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p.Path = strings.TrimPrefix(p.Path, module)
		for _, imports := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
			for i, imported := range imports {
				imports[i] = strings.TrimPrefix(imported, module)
			}
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

// under reports whether a package is one of the roots or below one of them.
func under(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") })
}

// leaf reports whether a package is one that every part may import: it imports nothing of this module
// and knows nothing of the product.
func leaf(path string) bool {
	return under(path, "worktree/atomicfile", "worktree/await", "worktree/build", "worktree/diff", "worktree/erase", "worktree/filekind",
		"worktree/githubname", "worktree/lazyregexp", "worktree/manual", "worktree/pause", "worktree/service", "worktree/span",
		"worktree/steps", "worktree/strictyaml")
}

// ours reports whether a path, already without the module's, is of this module.
func ours(path string) bool {
	return under(path, "relay", "agent", "guidelines", "verdict", "worktree", "scripts")
}

func TestWhoMayImportWhom(t *testing.T) {
	// simulator is what tests use as GitHub.
	simulator := []string{"agent/githubsim"}
	rules := []struct {
		name    string
		applies func(from string) bool
		allowed func(imported string) bool
		// forTests are the packages that tests may import as well. If it is nil, the rule is not for tests.
		forTests []string
	}{
		{
			"verdict imports nothing of this module but the leaves",
			func(from string) bool {
				return under(from, "verdict") && !under(from, "verdict/guard", "verdict/decide")
			},
			func(imported string) bool { return !ours(imported) || leaf(imported) },
			[]string{},
		},
		{
			"worktree imports only its own parts",
			func(from string) bool { return under(from, "worktree") },
			func(imported string) bool { return !ours(imported) || under(imported, "worktree") },
			[]string{},
		},
		{
			"the leaves import nothing of this module but how a file is replaced",
			leaf,
			func(imported string) bool { return !ours(imported) || imported == "worktree/atomicfile" },
			[]string{"worktree/await", "worktree/manual", "worktree/steps"},
		},
		{
			"only worktree runs git with its settings",
			func(from string) bool { return !under(from, "worktree") },
			func(imported string) bool { return imported != "worktree/gitcmd" },
			[]string{},
		},
		{
			"guidelines imports only the leaves, and verdict for its names",
			func(from string) bool { return under(from, "guidelines") },
			func(imported string) bool { return !ours(imported) || leaf(imported) || imported == "verdict" },
			[]string{},
		},
		{
			"verdict/decide imports only verdict",
			func(from string) bool { return from == "verdict/decide" },
			func(imported string) bool { return !ours(imported) || imported == "verdict" },
			[]string{},
		},
		{
			"verdict/guard imports only its own parts",
			func(from string) bool { return under(from, "verdict/guard") },
			func(imported string) bool { return !ours(imported) || under(imported, "verdict/guard") },
			[]string{},
		},
		{
			"relay imports only relay and the leaves, and its dashboard verdict",
			func(from string) bool { return under(from, "relay") && !under(from, "relay/dashboard") },
			func(imported string) bool { return !ours(imported) || under(imported, "relay") || leaf(imported) },
			simulator,
		},
		{
			"relay/dashboard imports only relay and verdict",
			func(from string) bool { return under(from, "relay/dashboard") },
			func(imported string) bool {
				return !ours(imported) || under(imported, "relay") || imported == "verdict"
			},
			append([]string{"verdict/decide"}, simulator...),
		},
		{
			"relay/event imports only the standard library",
			func(from string) bool { return from == "relay/event" },
			func(imported string) bool { return !strings.Contains(imported, ".") && !ours(imported) },
			[]string{},
		},
		{
			"agent sees only relay/event, relay/client and relay/appkey of the relay",
			func(from string) bool { return under(from, "agent") && !under(from, "agent/e2e") },
			func(imported string) bool {
				return !under(imported, "relay") || imported == "relay/event" || imported == "relay/client" || imported == "relay/appkey"
			},
			[]string{},
		},
		{
			"agent/pull only reads: it imports nothing that acts, remembers or runs a model",
			func(from string) bool { return from == "agent/pull" },
			func(imported string) bool {
				return !under(imported, "agent/author", "agent/daemon", "agent/engine", "agent/journal", "agent/merger", "agent/reviewer",
					"agent/worker")
			},
			nil,
		},
		{
			"agent/worker knows GitHub alone: it imports nothing of the relay",
			func(from string) bool { return from == "agent/worker" },
			func(imported string) bool { return !under(imported, "relay") },
			nil,
		},
		{
			"only what starts the loop imports agent/daemon",
			func(from string) bool {
				return under(from, "agent") && from != "agent" && !under(from, "agent/cli", "agent/compose", "agent/e2e")
			},
			func(imported string) bool { return imported != "agent/daemon" },
			nil,
		},
		{
			"no production package imports the simulator or the loop tests",
			func(from string) bool { return ours(from) && !under(from, "agent/githubsim", "agent/e2e", "scripts") },
			func(imported string) bool { return !under(imported, "agent/githubsim", "agent/e2e") },
			nil,
		},
		{
			"only packages for tests import what waits for them, and what panics for an error",
			func(from string) bool {
				return !under(from, "agent/githubsim", "agent/e2e", "agent/engine/enginetest", "scripts")
			},
			func(imported string) bool { return imported != "worktree/await" && imported != "worktree/steps" },
			nil,
		},
		{
			"no production package imports scripts",
			func(from string) bool { return ours(from) && !under(from, "scripts") },
			func(imported string) bool { return !under(imported, "scripts") },
			[]string{},
		},
	}
	only := map[string][]string{
		"github.com/r3labs/sse/v2":        {"relay/client"},
		"github.com/google/go-github/v66": {"agent/forge", "agent/githubsim", "relay/recovery"},
		// verdict/guard reads attributes with it, and no repository.
		"github.com/go-git/go-git/v5":   {"worktree", "agent/githubsim", "verdict/guard"},
		"cloud.google.com/go/firestore": {"relay/internal/firestore"},
		"modernc.org/sqlite":            {"relay/internal/sqlitefile"},
	}
	for _, p := range list(t) {
		for _, rule := range rules {
			if !rule.applies(p.Path) {
				continue
			}
			for _, imported := range p.Imports {
				if !rule.allowed(imported) {
					t.Errorf("%s imports %s, but %s", p.Path, imported, rule.name)
				}
			}
			if rule.forTests == nil {
				continue
			}
			for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
				if imported != p.Path && !rule.allowed(imported) && !under(imported, rule.forTests...) {
					t.Errorf("tests of %s import %s, but %s", p.Path, imported, rule.name)
				}
			}
		}
		for _, imported := range p.Imports {
			for dependency, users := range only {
				if under(imported, dependency) && !under(p.Path, users...) {
					t.Errorf("%s imports %s, which only %s may", p.Path, imported, strings.Join(users, ", "))
				}
			}
		}
	}
}

// TestOnlyTheMergerMerges finds the calls that merge a pull request, directly or through a queue, and the
// call that deletes its branch.
func TestOnlyTheMergerMerges(t *testing.T) {
	found := map[string]int{"SquashMerge": 0, "Enqueue": 0, "DeleteBranch": 0}
	for _, p := range list(t) {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				selector, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if _, merges := found[selector.Sel.Name]; merges {
					found[selector.Sel.Name]++
					if p.Path != "agent/merger" {
						t.Errorf("%s/%s merges a pull request; only agent/merger may", p.Path, name)
					}
				}
				return true
			})
		}
	}
	for name, n := range found {
		if n == 0 {
			t.Errorf("no call of %s was found: this test looks for the wrong name", name)
		}
	}
}
