package clones

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"touchstone/worktree/steps"
)

// Repository is a repository in which changes are built from other people's commits. Context bounds each run
// of git in it. Its methods are steps: they end the row of steps if git fails.
type Repository struct {
	Context context.Context
	Dir     string
}

// Git runs git without this machine's configuration.
func (r Repository) Git(input []byte, args ...string) string {
	cmd := exec.CommandContext(r.Context, "git", args...)
	cmd.Dir, cmd.Stdin = r.Dir, bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_AUTHOR_NAME=case", "GIT_AUTHOR_EMAIL=case@example.com", "GIT_COMMITTER_NAME=case", "GIT_COMMITTER_EMAIL=case@example.com")
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		steps.Fail("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(failed.Bytes()))
	}
	return strings.TrimSpace(out.String())
}

// Commit makes a commit with another commit's tree plus more files, by path, on top of parents. The commit
// has no history that would reveal the change.
func (r Repository) Commit(of, message string, more map[string]string, parents ...string) string {
	args := []string{"commit-tree", "-m", message, r.present(of+"^{tree}", more)}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.Git(nil, args...)
}

// present returns a tree with more files, without submodules, and without the files that a partial clone
// lacks.
func (r Repository) present(tree string, more map[string]string) string {
	r.Git(nil, "read-tree", tree)
	var names []string // of objects, one for each entry
	entries := strings.Split(strings.TrimSuffix(r.Git(nil, "ls-tree", "-r", "-z", tree), "\x00"), "\x00")
	for _, entry := range entries {
		meta, _, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		names = append(names, fields[len(fields)-1])
	}
	found := r.Git([]byte(strings.Join(names, "\n")), "cat-file", "--batch-check")
	var gone strings.Builder
	for i, line := range strings.Split(found, "\n") {
		if _, path, ok := strings.Cut(entries[i], "\t"); ok && (strings.HasSuffix(line, " missing") || strings.HasPrefix(entries[i], "160000")) {
			fmt.Fprintf(&gone, "0 %040d\t%s\n", 0, path)
		}
	}
	if gone.Len() > 0 {
		r.Git([]byte(gone.String()), "update-index", "--index-info")
	}
	for path, text := range more {
		blob := r.Git([]byte(text), "hash-object", "-w", "--stdin")
		r.Git(nil, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
	}
	return r.Git(nil, "write-tree", "--missing-ok")
}
