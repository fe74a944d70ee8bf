package forge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-github/v66/github"

	"touchstone/worktree/githubname"
	"touchstone/worktree/lazyregexp"
)

// Cloned returns the repository of this GitHub that an address in the .gitmodules of another repository names: by
// https, by ssh as the user git, or relative to that repository, as git resolves it
// (https://git-scm.com/docs/git-submodule#Documentation/git-submodule.txt-add). The error completes "the address …". It
// opens no connection, and nothing ever connects to the address.
func (c *Client) Cloned(of Repo, address string) (Repo, error) {
	web, err := url.Parse(c.web)
	if err != nil {
		return Repo{}, err
	}
	name, err := cloned(web, of, address)
	if err != nil {
		return Repo{}, err
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/"), ".git")
	owner, name, ok := githubname.Split(name)
	if !ok {
		return Repo{}, errors.New("is not that of one repository, as owner/name")
	}
	return Repo{Owner: owner, Name: name}, nil
}

// cloned is the part of an address that names the repository.
func cloned(web *url.URL, of Repo, address string) (string, error) {
	switch {
	case strings.HasPrefix(address, "./"), strings.HasPrefix(address, "../"):
		return relative(of.String(), address)
	case !strings.Contains(address, "://"): // such as git@github.com:acme/app.git
		host, name, _ := strings.Cut(address, ":")
		return name, sshHost(web, host)
	}
	u, err := url.Parse(address)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(address, "%?#\\") {
		return "", errors.New("has escapes, a query or a fragment, or is none")
	}
	if u.Scheme == "ssh" {
		host := u.Host
		if u.User != nil {
			host = u.User.String() + "@" + host
		}
		return strings.TrimPrefix(u.Path, "/"), sshHost(web, host)
	}
	name, below := strings.CutPrefix(u.Path, web.Path+"/")
	if u.Scheme != web.Scheme || !strings.EqualFold(u.Host, web.Host) || u.User != nil || !below {
		return "", fmt.Errorf("is not one of %s", web)
	}
	return name, nil
}

// sshHost returns an error unless an address by ssh, as "git@host", is of this GitHub. One whose pages have a port of
// their own may be beside another ssh server.
func sshHost(web *url.URL, host string) error {
	if user, name, _ := strings.Cut(host, "@"); user != "git" || web.Port() != "" || !strings.EqualFold(name, web.Host) {
		return fmt.Errorf("is not one of %s", web)
	}
	return nil
}

// relative resolves "../name" against the full name of a repository.
func relative(of, address string) (string, error) {
	for {
		if rest, here := strings.CutPrefix(address, "./"); here {
			address = rest
			continue
		}
		rest, above := strings.CutPrefix(address, "../")
		if !above {
			return strings.TrimPrefix(of+"/"+address, "/"), nil
		}
		if of == "" {
			return "", errors.New("leads out of this GitHub")
		}
		of, address = of[:max(0, strings.LastIndexByte(of, '/'))], rest
	}
}

// branchName matches the names of branches that need no further thought in a URL or a comparison.
var branchName = lazyregexp.New(`^[\w+@,=-][\w.+@,=-]*(?:/[\w+@,=-][\w.+@,=-]*)*$`)

// Tip returns a branch of a repository, "" being its default branch. ErrNotFound says that there is none.
func (c *Client) Tip(ctx context.Context, repo Repo, name string) (Branch, error) {
	if name == "" {
		op := "read the default branch of " + repo.String()
		found, _, err := c.rest.Repositories.Get(ctx, repo.Owner, repo.Name)
		if err != nil {
			return Branch{}, c.failed(op, err)
		}
		if name = found.GetDefaultBranch(); name == "" {
			return Branch{}, &Error{Op: op, Message: "GitHub's answer names none"}
		}
	}
	op := fmt.Sprintf("read the branch %.100q of %s", name, repo)
	if !branchName.MatchString(name) || strings.Contains(name, "..") {
		return Branch{}, &Error{Op: op, Message: "it is not a plain name", kind: ErrUnreadable}
	}
	// This is about branches alone; a tag or a commit of the same name does not count.
	ref, _, err := c.rest.Git.GetRef(ctx, repo.Owner, repo.Name, "heads/"+name)
	if err != nil {
		return Branch{}, c.failed(op, err)
	}
	if ref.GetRef() != "refs/heads/"+name || ref.GetObject().GetSHA() == "" {
		return Branch{}, &Error{Op: op, Message: "GitHub's answer is about another one"}
	}
	return Branch{Repo: repo, Name: name, SHA: ref.GetObject().GetSHA()}, nil
}

// Comparison says how two commits of a repository, a base and a head, stand to each other.
type Comparison struct {
	// Contains says that the head is the base, or has it in its history.
	Contains bool
	// Ahead is how many commits the head's history has that the base's lacks.
	Ahead int
	// URL is where people see the difference.
	URL string
}

// Compare compares two commits or branches of a repository. GitHub also knows the commits of forks in it, so that a
// commit may be on no branch. ErrNotFound says that GitHub no longer has one of the two, or that they share no history.
func (c *Client) Compare(ctx context.Context, repo Repo, base, head string) (Comparison, error) {
	// Pages after the first omit the changed files, which are not needed.
	found, _, err := c.rest.Repositories.CompareCommits(ctx, repo.Owner, repo.Name, base, head, &github.ListOptions{Page: 2, PerPage: 1})
	if err != nil {
		return Comparison{}, c.failed(fmt.Sprintf("compare %.12s with %.12s in %s", base, head, repo), err)
	}
	return Comparison{
		Contains: found.GetStatus() == "ahead" || found.GetStatus() == "identical", Ahead: found.GetAheadBy(),
		URL: fmt.Sprintf("%s/%s/compare/%s...%s", c.web, repo, base, head),
	}, nil
}
