package forge

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"touchstone/worktree/githubname"
)

// Repo names a repository.
type Repo struct{ Owner, Name string }

// String returns owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Ref names one pull request.
type Ref struct {
	Repo
	Number int
}

// String returns owner/name#number.
func (r Ref) String() string { return fmt.Sprintf("%s#%d", r.Repo, r.Number) }

// ParseRepo parses "owner/name". The error says for a person what is wrong.
func ParseRepo(s string) (Repo, error) {
	owner, name, ok := githubname.Split(s)
	if !ok {
		return Repo{}, fmt.Errorf("%.120q is not a repository; write it as owner/name, such as acme/app", s)
	}
	return Repo{Owner: owner, Name: name}, nil
}

// ParseRef parses the ways in which people name a pull request: "12" and "#12" (in def), "owner/name#12", and
// the URL of its page, "https://host/owner/name/pull/12", with or without more path, query or fragment. A
// bare number with a zero def is an error that says so.
func ParseRef(arg string, def Repo) (Ref, error) {
	fail := func() (Ref, error) {
		return Ref{}, fmt.Errorf("%.200q is not a pull request; write 12, owner/name#12 or the address of its page", arg)
	}
	repo, number := "", strings.TrimPrefix(arg, "#")
	switch {
	case strings.HasPrefix(arg, "https://"), strings.HasPrefix(arg, "http://"):
		u, err := url.Parse(arg)
		if err != nil {
			return fail()
		}
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if len(parts) < 4 || parts[2] != "pull" {
			return fail()
		}
		repo, number = parts[0]+"/"+parts[1], parts[3]
	case strings.Contains(arg, "/"):
		var ok bool
		if repo, number, ok = strings.Cut(arg, "#"); !ok {
			return fail()
		}
	}

	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 1 || number[0] == '+' {
		return fail()
	}
	if repo == "" {
		if def == (Repo{}) {
			return Ref{}, fmt.Errorf("pull request %d of which repository? Write owner/name#%d, or name the repository with --repo owner/name", n, n)
		}
		return Ref{Repo: def, Number: int(n)}, nil
	}
	r, err := ParseRepo(repo)
	if err != nil {
		return Ref{}, err
	}
	return Ref{Repo: r, Number: int(n)}, nil
}
