package forge

import (
	"context"
	"fmt"

	"github.com/google/go-github/v66/github"
)

// Commit returns the SHA of the commit that a branch, a tag or a commit's name refers to in a repository.
// HEAD is the tip of its default branch.
func (c *Client) Commit(ctx context.Context, repo Repo, rev string) (string, error) {
	op := fmt.Sprintf("find the commit %s of %s", rev, repo)
	commit, _, err := c.rest.Repositories.GetCommit(ctx, repo.Owner, repo.Name, rev, &github.ListOptions{PerPage: 1})
	if err != nil {
		return "", c.failed(op, err)
	}
	if commit.GetSHA() == "" {
		return "", &Error{Op: op, Message: "GitHub's answer names no commit"}
	}
	return commit.GetSHA(), nil
}

// maxFiles is how many entries of a directory GitHub lists
// (https://docs.github.com/rest/repos/contents#get-repository-content).
const maxFiles = 1000

// Files returns the names of the files and symbolic links directly in a directory of a repository at a commit.
// ErrNotFound says that the directory does not exist, ErrUnreadable that something else is in its place. It is
// an error if GitHub may not have listed all entries.
func (c *Client) Files(ctx context.Context, repo Repo, rev, dir string) ([]string, error) {
	op := fmt.Sprintf("list %s of %s", dir, repo)
	file, entries, _, err := c.rest.Repositories.GetContents(ctx, repo.Owner, repo.Name, dir, &github.RepositoryContentGetOptions{Ref: rev})
	switch {
	case err != nil:
		return nil, c.failed(op, err)
	case file != nil:
		return nil, &Error{Op: op, Message: "it is a symbolic link, a file or a submodule, so nothing in it can be read",
			Remedy: "make it a directory", kind: ErrUnreadable}
	case len(entries) >= maxFiles:
		return nil, &Error{Op: op, Message: "it contains more than GitHub lists"}
	}
	var names []string
	for _, entry := range entries {
		if entry.GetType() == "file" || entry.GetType() == "symlink" {
			names = append(names, entry.GetName())
		}
	}
	return names, nil
}
