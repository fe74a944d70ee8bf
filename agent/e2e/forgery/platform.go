package forgery

import (
	"crypto/ed25519"
	"net/http"
	"time"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/worktree/steps"
)

// queued makes a repository's main accept merges only through a queue.
var queued = protected(githubsim.Protection{MergeQueue: true})

// enqueue puts the pull request into the merge queue as a login.
func (s *scene) enqueue(login string) {
	s.mutate(login, `mutation($id: ID!) { enqueuePullRequest(input: {pullRequestId: $id}) { clientMutationId } }`)
}

// mutate changes the pull request through GraphQL.
func (s *scene) mutate(login, mutation string) {
	id := s.Pull().NodeID
	s.note("%s: %s", login, mutation)
	steps.Must(s.GraphQL(s.Ctx, login, mutation, map[string]any{"id": id}))
}

// claim pushes a commit as a login that names a cost of no session, signed with a key if there is one.
func (s *scene) claim(login string, key ed25519.PrivateKey) {
	signer := verdict.Signer{Key: key, Pull: s.Pull().ID}
	fix := verdict.Repair{Reviewed: s.head(), Cost: verdict.Cost{USD: 1000, Time: time.Hour}}.Signed(signer)
	s.commit(login, branch, "Apply review\n\n"+fix.Trailers(), map[string]string{"note.md": "A note.\n"})
}

// untold never reports harm, because everyone with write access may do what the case does. The account must say
// what the merge lacked.
func untold(*scene) bool { return false }

// platform returns the attacks by GitHub's other features.
func platform() []Case {
	var all []Case
	for _, actor := range []string{arena.Author, arena.Person} {
		all = append(all,
			Case{Name: who(actor) + ": merge queue: an entry of what was not approved", stage: stage{text: defect, repository: queued},
				harmed: untold, told: []string{"requests changes"},
				act: func(s *scene) { s.enqueue(actor) }},
			Case{Name: who(actor) + ": merge queue: an entry of what is held", stage: stage{text: held, repository: queued}, harmed: untold,
				told: []string{"held for a person"},
				act:  func(s *scene) { s.enqueue(actor) }},
			Case{Name: who(actor) + ": merge by hand: what was not approved", stage: stage{text: defect}, harmed: untold,
				told: []string{"requests changes"},
				act:  func(s *scene) { s.Merge(actor) }},
			Case{Name: who(actor) + ": commit trailer: a cost that nobody had", stage: stage{text: defect},
				act: func(s *scene) { s.claim(actor, nil) }},
			Case{Name: who(actor) + ": commit trailer: a cost that nobody had, signed with a key of one's own", stage: stage{text: defect},
				act: func(s *scene) {
					_, key, err := ed25519.GenerateKey(nil)
					steps.Must(err)
					s.claim(actor, key)
				}},
		)
	}
	return append(all,
		Case{Name: "owner of a fork: same branch name: a defect beside an approved head", stage: stage{text: defect, early: func(s *scene) {
			fork := s.Ref.Repo
			fork.Owner = forker
			steps.Must(s.Sim.CreateRepo(s.Ctx, githubsim.RepoOptions{Owner: fork.Owner, Name: fork.Name, ForkOf: s.Ref.Repo.String(),
				Permissions: map[string]string{}}))
			steps.Got(s.Sim.Commit(s.Ctx, forker, fork.String(), branch, "Note", map[string]string{"note.md": "A note.\n"}))
			s.Call(forker, http.MethodPost, "pulls", map[string]any{"title": "Note", "head": forker + ":" + branch, "base": "main"}, nil)
			s.Ref.Number++
			s.review()
			s.Ref.Number--
		}}},
		Case{Name: "author: second pull request: the same head into another base, approved there",
			stage: stage{text: none, early: func(s *scene) {
				// The other base has the defect already.
				s.push(neutral, sandbox, map[string]string{file: source(defect)})
				s.push(arena.Author, branch, map[string]string{file: source(defect)})
				s.push(arena.Author, branch, map[string]string{"note.md": "A note.\n"})
				s.base = sandbox
				s.request(branch)
				s.review()
				s.base = "main"
				s.request(branch)
			}}, unapproved: true},
		Case{Name: "author: stacked pull request: approved into a branch that then becomes main's",
			stage: stage{text: none, early: func(s *scene) {
				s.push(arena.Author, "lower", map[string]string{"store/lower.go": "package store\n\nfunc lower() { " + defect + " }\n"})
				s.request("lower")
				s.stack("lower")
			}}, act: func(s *scene) { s.retarget(arena.Author, "main") }},
	)
}
