package githubsim

import (
	"fmt"
	"slices"
)

// AddUser adds a user, under a login that is free.
func (s *Sim) AddUser(u User) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.Login == "" || u.Token == "" || s.findAccount(u.Login) != nil {
		return fmt.Errorf("a user needs a free login and a token: %q is taken, or one of them is missing", u.Login)
	}
	s.addAccount(u)
	return nil
}

func (s *Sim) addAccount(u User) {
	a := &account{User: u, id: s.id()}
	if u.App {
		a.hooks = &hookSet{kind: "App", target: "integration", id: a.id, path: "/app/hook"}
		a.hooks.hooks = []*hook{{of: a.hooks, id: s.id(), events: []string{"*"}, contentType: "json", created: s.now(), updated: s.now()}}
	}
	s.accounts = append(s.accounts, a)
}

// Rename gives an account another login. Its contributions and permissions stay, and the old login becomes free
// for other accounts. https://docs.github.com/en/account-and-profile/concepts/username-changes
func (s *Sim) Rename(login, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.findAccount(login)
	if a == nil || s.findAccount(to) != nil {
		return fmt.Errorf("no user %s, or %s is taken", login, to)
	}
	for _, r := range s.repos {
		if role, ok := r.perms[a.Login]; ok {
			delete(r.perms, a.Login)
			r.perms[to] = role
		}
	}
	a.Login = to
	return nil
}

// Delete deletes an account. Its contributions stay, and are shown under the login ghost.
// https://docs.github.com/en/account-and-profile/how-tos/account-management/deleting-your-personal-account
func (s *Sim) Delete(login string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.findAccount(login)
	if a == nil {
		return fmt.Errorf("no user %s", login)
	}
	for _, r := range s.repos {
		delete(r.perms, a.Login)
	}
	s.accounts = slices.DeleteFunc(s.accounts, func(other *account) bool { return other == a })
	a.User = User{Login: "ghost"}
	a.deleted = true
	return nil
}

// SetPermission gives a login one of the permissions of [RepoOptions] in a repository; an empty role restores
// the default for all logins.
func (s *Sim) SetPermission(repository, login, role string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findRepo(repository)
	if r == nil || r.perms == nil {
		return fmt.Errorf("no repository %s, or one in which everybody may write", repository)
	}
	if r.perms[login] = role; role == "" {
		delete(r.perms, login)
	}
	return nil
}
