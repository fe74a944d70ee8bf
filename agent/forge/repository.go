package forge

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/google/go-github/v66/github"
)

// Permission returns what a login may do in a repository. For an organization's custom role, it is the
// built-in role that it includes. A login without access is "none" or, for a public repository, "read". It is
// Unseen if GitHub knows no such user, or refuses to say, as it does to those who may not push.
func (c *Client) Permission(ctx context.Context, repo Repo, login string) (Permission, error) {
	level, _, err := c.rest.Repositories.GetPermissionLevel(ctx, repo.Owner, repo.Name, url.PathEscape(login))
	if err != nil {
		err = c.failed(fmt.Sprintf("read what %s may do in %s", login, repo), err)
		if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
			return Unseen, nil
		}
		return "", err
	}
	// The answer's "permission" has no maintain and no triage, and its "role_name" may be a custom one.
	permission, may := Permission(level.GetPermission()), level.GetUser().GetPermissions()
	switch {
	case permission == "write" && may["maintain"]:
		return "maintain", nil
	case permission == "read" && may["triage"]:
		return "triage", nil
	}
	return permission, nil
}

// maxFile is the largest file, in bytes, that GitHub includes in an answer
// (https://docs.github.com/rest/repos/contents#get-repository-content).
const maxFile = 1 << 20

// File returns a file of a repository at a commit, branch or tag. ErrNotFound says that there is none. A
// directory, a symbolic link, or a file of more than 1 MiB is an ErrUnreadable.
func (c *Client) File(ctx context.Context, repo Repo, rev, path string) ([]byte, error) {
	op := fmt.Sprintf("read %s of %s", path, repo)
	file, _, _, err := c.rest.Repositories.GetContents(ctx, repo.Owner, repo.Name, path, &github.RepositoryContentGetOptions{Ref: rev})
	if err != nil {
		return nil, c.failed(op, err)
	}
	if file.GetType() != "file" || file.GetSize() > maxFile {
		return nil, &Error{Op: op, Message: "it is not a file, or it is larger than 1 MiB", kind: ErrUnreadable}
	}
	text, err := file.GetContent()
	if err != nil {
		return nil, c.failed(op, err)
	}
	// GitHub answers a link to a file with the content of that file, but with the hash of the link. Those who read the
	// commit itself do not follow links.
	if hash := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)); hex.EncodeToString(hash[:]) != file.GetSHA() {
		return nil, &Error{Op: op, Message: "it is a symbolic link, which is not followed", Remedy: "put the file itself there",
			kind: ErrUnreadable}
	}
	return []byte(text), nil
}

// maxPaths is how many changed files of a pull request GitHub lists
// (https://docs.github.com/rest/pulls/pulls#list-pull-requests-files).
const maxPaths = 3000

// ChangedPaths lists the files that a pull request changes, with both names of a renamed one. If there are so
// many that GitHub may not list them all, it is an ErrUnreadable.
func (c *Client) ChangedPaths(ctx context.Context, ref Ref) ([]string, error) {
	op := "list the files that " + ref.String() + " changes"
	var all []string
	list := &github.ListOptions{PerPage: 100}
	for listed := 0; ; {
		page, response, err := c.rest.PullRequests.ListFiles(ctx, ref.Owner, ref.Name, ref.Number, list)
		if err != nil {
			return nil, c.failed(op, err)
		}
		for _, file := range page {
			all = append(all, file.GetFilename())
			if before := file.GetPreviousFilename(); before != "" {
				all = append(all, before)
			}
		}
		switch listed += len(page); {
		case listed >= maxPaths:
			return nil, &Error{Op: op, Message: fmt.Sprintf("it changes more files than the %d that GitHub lists", maxPaths), kind: ErrUnreadable}
		case response.NextPage == 0:
			return all, nil
		}
		list.Page = response.NextPage
	}
}

// Contains reports whether the history of a commit or branch contains another commit. ErrNotFound says that
// GitHub no longer has one of them, or that they share no history.
func (c *Client) Contains(ctx context.Context, repo Repo, descendant, ancestor string) (bool, error) {
	compared, err := c.Compare(ctx, repo, ancestor, descendant)
	return compared.Contains, err
}

// Commit is a commit of a pull request.
type Commit struct {
	SHA     string
	Message string // untrusted text
	Name    string // the author's name in git: untrusted text
	Email   string
	Login   string    // the account of Email; empty if GitHub knows none
	At      time.Time // when it was committed, by the committer's clock
	// Rewritten says that the author and committer dates differ, as after an amend, a rebase or a cherry-pick
	// (https://git-scm.com/docs/git-commit-tree#_commit_information).
	Rewritten bool
}

// maxCommits is how many commits of a pull request GitHub lists; it lists the first ones
// (https://docs.github.com/rest/pulls/pulls#list-commits-on-a-pull-request).
const maxCommits = 250

// Commits lists the commits of a pull request, oldest first. More than 2,000 are an ErrUnreadable.
func (c *Client) Commits(ctx context.Context, ref Ref) ([]Commit, error) {
	op := "list the commits of " + ref.String()
	all, err := c.commits(func(page *github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error) {
		return c.rest.PullRequests.ListCommits(ctx, ref.Owner, ref.Name, ref.Number, page)
	})
	if err == nil && len(all) >= maxCommits {
		all, err = c.manyCommits(ctx, ref)
	}
	return all, c.failed(op, err)
}

// manyCommits lists the commits of a pull request that has more than that: a comparison of its base and head
// has all of them.
func (c *Client) manyCommits(ctx context.Context, ref Ref) ([]Commit, error) {
	pr, _, err := c.rest.PullRequests.Get(ctx, ref.Owner, ref.Name, ref.Number)
	if err != nil {
		return nil, err
	}
	return c.commits(func(page *github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error) {
		comparison, response, err := c.rest.Repositories.CompareCommits(ctx, ref.Owner, ref.Name, pr.GetBase().GetSHA(), pr.GetHead().GetSHA(),
			page)
		if err != nil {
			return nil, response, err
		}
		return comparison.Commits, response, nil
	})
}

// commits reads a list of commits to its end.
func (c *Client) commits(list func(*github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error)) ([]Commit, error) {
	listed, whole, err := readAll(list)
	switch {
	case err != nil:
		return nil, err
	case !whole:
		return nil, unreadable("it has more than 2,000 commits, which is more than the agents read")
	}
	var all []Commit
	for _, commit := range listed {
		git := commit.GetCommit()
		all = append(all, Commit{
			SHA: commit.GetSHA(), Message: git.GetMessage(), Name: git.GetAuthor().GetName(), Email: git.GetAuthor().GetEmail(),
			Login: commit.GetAuthor().GetLogin(), At: git.GetCommitter().GetDate().Time,
			Rewritten: !git.GetAuthor().GetDate().Equal(git.GetCommitter().GetDate()),
		})
	}
	return all, nil
}
