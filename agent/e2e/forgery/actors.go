package forgery

import (
	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// The actors besides those of the arena. Alice, the arena's author, may write; Walter, its
// person, may write and has written nothing of the pull request.
const (
	stranger   = "stranger" // has nothing to do with the repository
	reader     = "rita"     // may read
	triager    = "tracy"    // may triage
	maintainer = "mara"     // may maintain; writes a commit of the pull request where she acts
	neutral    = "norma"    // may maintain, and writes nothing
	helper     = "helper"   // an App with write access that is no reviewer
	forker     = "frank"    // owns a fork, and may read
	second     = "judge2"   // another reviewer
	thief      = "thief"    // takes logins over that others gave up
	imported   = "imported" // a mannequin
)

// roles are what the actors may do in a repository.
var roles = map[string]string{
	arena.Author: "write", arena.Judge: "write", arena.Person: "write", arena.CI: "write",
	reader: "read", triager: "triage", maintainer: "maintain", neutral: "maintain", helper: "write", forker: "read", second: "write",
}

// actors are the users that are no part of every arena.
func actors() []githubsim.User {
	var all []githubsim.User
	for _, login := range []string{stranger, reader, triager, maintainer, neutral, helper, forker, second, imported} {
		all = append(all, githubsim.User{Login: login, Token: arena.Token(login), App: login == helper, Mannequin: login == imported})
	}
	return all
}
