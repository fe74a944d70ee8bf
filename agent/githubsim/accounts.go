package githubsim

import (
	"slices"

	"touchstone/worktree/steps"
)

// AddUser adds a user, under a login that is free.
func (s *Sim) AddUser(u User) error {
	return s.do(func() {
		if u.Login == "" || u.Token == "" || s.findAccount(u.Login) != nil {
			steps.Fail("a user needs a free login and a token: %q is taken, or one of them is missing", u.Login)
		}
		s.addAccount(u)
	})
}

func (s *Sim) addAccount(u User) {
	a := &account{User: u, id: s.id()}
	if u.App {
		a.hooks = &hookSet{kind: "App", target: "integration", id: a.id, path: "/app/hook"}
		a.hooks.hooks = []*hook{{of: a.hooks, id: s.id(), events: []string{"*"}, contentType: "json", created: s.Now(), updated: s.Now()}}
	}
	s.accounts = append(s.accounts, a)
}

// Rename gives an account another login. Its contributions and permissions stay, and the old login becomes free
// for other accounts. https://docs.github.com/en/account-and-profile/concepts/username-changes
func (s *Sim) Rename(login, to string) error {
	return s.do(func() {
		a := s.account(login)
		if s.findAccount(to) != nil {
			steps.Fail("%s is taken", to)
		}
		for _, r := range s.repos {
			if role, ok := r.Permissions[a.Login]; ok {
				delete(r.Permissions, a.Login)
				r.Permissions[to] = role
			}
		}
		a.Login = to
	})
}

// Delete deletes an account. Its contributions stay, and are shown under the login ghost.
// https://docs.github.com/en/account-and-profile/how-tos/account-management/deleting-your-personal-account
func (s *Sim) Delete(login string) error {
	return s.do(func() {
		a := s.account(login)
		for _, r := range s.repos {
			delete(r.Permissions, a.Login)
		}
		s.accounts = slices.DeleteFunc(s.accounts, func(other *account) bool { return other == a })
		a.User = User{Login: "ghost"}
		a.deleted = true
	})
}

// SetPermission gives a login one of the permissions of [RepoOptions] in a repository; an empty role restores
// the default for all logins.
func (s *Sim) SetPermission(repository, login, role string) error {
	return s.do(func() {
		r := s.repo(repository)
		if r.Permissions == nil {
			steps.Fail("everybody may write in %s", repository)
		}
		if r.Permissions[login] = role; role == "" {
			delete(r.Permissions, login)
		}
	})
}
