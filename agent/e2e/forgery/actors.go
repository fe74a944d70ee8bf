package forgery

import (
	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// The actors besides the arena's. Alice, the arena's author, can write; Walter, its person, can write and has
// not contributed to the pull request.
const (
	stranger   = "stranger" // has nothing to do with the repository
	reader     = "rita"     // can read
	triager    = "tracy"    // can triage
	maintainer = "mara"     // can maintain; wrote a commit of the pull request in the cases where she acts
	neutral    = "norma"    // can maintain, and wrote nothing
	helper     = "helper"   // an App with write access that is not a reviewer
	forker     = "frank"    // owns a fork, and can read
	second     = "judge2"   // another reviewer
	thief      = "thief"    // takes over logins that others gave up
	imported   = "imported" // a mannequin
)

// roles are the actors' roles in a repository.
var roles = map[string]string{
	arena.Author: "write", arena.Judge: "write", arena.Person: "write", arena.CI: "write",
	reader: "read", triager: "triage", maintainer: "maintain", neutral: "maintain", helper: "write", forker: "read", second: "write",
}

// actors returns the users that an arena does not have.
func actors() []githubsim.User {
	var all []githubsim.User
	for _, login := range []string{stranger, reader, triager, maintainer, neutral, helper, forker, second, imported} {
		all = append(all, githubsim.User{Login: login, Token: arena.Token(login), App: login == helper, Mannequin: login == imported})
	}
	return all
}
