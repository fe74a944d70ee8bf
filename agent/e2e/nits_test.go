package e2e

import (
	"slices"
	"strings"
	"testing"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

const (
	typo    = "// Search is vauge."
	mended  = "// Search is vague."
	typoed  = "package store\n\n" + typo + "\nfunc Search() {}\n"
	correct = "package store\n\n" + mended + "\nfunc Search() {}\n"
)

// oneNit returns a script in which a reviewer approves a change with a misspelt comment. The sessions
// of both roles are counted.
func oneNit() map[string]any {
	nit := defect("store/search.go", typo, mended, "nit")
	finding := nit["finding"].(map[string]any)
	finding["dimension"], finding["rule"] = "Doc", "doc/D4"
	script := map[string]any{"defects": []any{nit}}
	return with(with(script, decide.Reviewer, "", ""), decide.Author, "", "")
}

func TestNitsAreAppliedBeforeTheMerge(t *testing.T) {
	t.Parallel()
	// It passes as long as the misspelt word is there.
	const verify = "verify:\n  command: [git, grep, --no-index, -q, vauge, --, store]\n"
	for name, tc := range map[string]struct {
		base    map[string]string // files of main
		off     bool              // the setting
		pushed  string            // what a person makes of the file once it is approved; blank is nothing
		reviews int
		session int    // how many of the reviewer's take a session
		merged  string // what comes to main
		said    string // in the nit's thread
	}{
		"applied, and carried over": {reviews: 2, session: 1, merged: correct, said: "Changed in "},
		"the setting is off":        {off: true, reviews: 1, session: 1, merged: typoed},
		"verify fails on it": {base: map[string]string{".touchstone/config.yaml": verify}, reviews: 1, session: 1, merged: typoed,
			said: "Not applied: "},
		"a person applies it":            {pushed: correct, reviews: 2, session: 1, merged: correct},
		"a person applies it and a byte": {pushed: correct + "\n", reviews: 2, session: 2, merged: correct + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, oneNit())
			if tc.base != nil {
				_, err := w.Commit(w.Ctx, admin, repo.String(), "main", "Settings", tc.base)
				w.must(err)
			}
			before := w.mergesOnMain()
			w.agents[decide.Author].cfg.Author.Nits = !tc.off
			w.agents[decide.Reviewer].start()
			ref := w.open("Search", map[string]string{"store/search.go": typoed}, false)
			w.until("approved", func() bool { return len(w.reviews(ref)) == 1 })
			if tc.pushed != "" {
				_, err := w.Commit(w.Ctx, person, repo.String(), "search", "Mend it", map[string]string{"store/search.go": tc.pushed})
				w.must(err)
				w.until("reviewed again", func() bool { return len(w.reviews(ref)) == 2 })
			}
			w.agents[decide.Author].start()
			w.until("merged", func() bool { return w.merged(ref) })
			w.checkInvariants(ref)
			w.Settle()
			if got := w.file("main", "store/search.go"); got != tc.merged {
				t.Errorf("main has\n%s\nwant\n%s", got, tc.merged)
			}
			held := 0
			for _, r := range w.records(ref) {
				if r.Engine != "" {
					held++
				}
			}
			if n, m := len(w.reviews(ref)), w.sessions(decide.Reviewer); n != tc.reviews || held != tc.session || m != tc.session ||
				w.sessions(decide.Author) != 0 {
				t.Errorf("%d reviews, %d of a session, of %d; want %d and %d\n%s", n, held, m, tc.reviews, tc.session, w.describe())
			}
			if n := w.mergesOnMain() - before; n != 1 {
				t.Errorf("%d merges on main", n)
			}
			w.checkNitThread(ref, tc.said, tc.merged != typoed)
		})
	}
}

// checkNitThread checks that the only thread says what was done about its finding, and is resolved if the
// finding is gone.
func (w *world) checkNitThread(ref forge.Ref, said string, resolved bool) {
	w.t.Helper()
	client, err := forge.New(forge.Config{APIURL: w.URL + "/api/v3/", Token: string(w.agents[decide.Author].cfg.GitHub.Token),
		Version: "test"})
	w.must(err)
	pr, err := client.PullRequest(w.Ctx, ref)
	w.must(err)
	if len(pr.Threads) != 1 || pr.Threads[0].Resolved != resolved {
		w.t.Fatalf("the threads are %+v, and it should be resolved: %v", pr.Threads, resolved)
	}
	answered := slices.ContainsFunc(pr.Threads[0].Comments[1:], func(c forge.Comment) bool {
		return said != "" && strings.HasPrefix(c.Body, said) && verdict.SameLogin(c.Author.Login, author)
	})
	if answered != (said != "") || len(pr.Threads[0].Comments) > 2 {
		w.t.Errorf("the thread says %+v, want %q", pr.Threads[0].Comments[1:], said)
	}
}
