package clones

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Repository is a repository in which changes are built from other people's commits. Context bounds each run
// of git in it.
type Repository struct {
	Context context.Context
	Dir     string
}

// Git runs git without this machine's configuration.
func (r Repository) Git(input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(r.Context, "git", args...)
	cmd.Dir, cmd.Stdin = r.Dir, bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_AUTHOR_NAME=case", "GIT_AUTHOR_EMAIL=case@example.com", "GIT_COMMITTER_NAME=case", "GIT_COMMITTER_EMAIL=case@example.com")
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(failed.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Commit makes a commit with another commit's tree plus more files, by path, on top of parents. The commit
// has no history that would reveal the change.
func (r Repository) Commit(of, message string, more map[string]string, parents ...string) (string, error) {
	tree, err := r.present(of+"^{tree}", more)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", message, tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.Git(nil, args...)
}

// present returns a tree with more files, without submodules, and without the files that a partial clone
// lacks.
func (r Repository) present(tree string, more map[string]string) (string, error) {
	if _, err := r.Git(nil, "read-tree", tree); err != nil {
		return "", err
	}
	listed, err := r.Git(nil, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return "", err
	}
	var names []string // of objects, one for each entry
	entries := strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00")
	for _, entry := range entries {
		meta, _, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		names = append(names, fields[len(fields)-1])
	}
	found, err := r.Git([]byte(strings.Join(names, "\n")), "cat-file", "--batch-check")
	if err != nil {
		return "", err
	}
	var gone strings.Builder
	for i, line := range strings.Split(found, "\n") {
		if _, path, ok := strings.Cut(entries[i], "\t"); ok && (strings.HasSuffix(line, " missing") || strings.HasPrefix(entries[i], "160000")) {
			fmt.Fprintf(&gone, "0 %040d\t%s\n", 0, path)
		}
	}
	if gone.Len() > 0 {
		if _, err := r.Git([]byte(gone.String()), "update-index", "--index-info"); err != nil {
			return "", err
		}
	}
	for path, text := range more {
		blob, err := r.Git([]byte(text), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		if _, err := r.Git(nil, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path); err != nil {
			return "", err
		}
	}
	return r.Git(nil, "write-tree", "--missing-ok")
}
