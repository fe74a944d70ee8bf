package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

// world is a GitHub with one open pull request.
type world struct {
	*loopback.GitHub
	t   *testing.T
	ref forge.Ref
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{GitHub: loopback.New(t, map[string]string{"code.txt": "base\n"}), t: t}
	w.Call(loopback.Root, http.MethodPost, "statuses/main", map[string]string{"context": "build", "state": "success"}, nil)
	w.Commit("topic", "Change code\n\nCloses nothing.", map[string]string{"code.txt": "unsafe()\n"})
	w.ref = w.Open("topic")
	return w
}

// review posts a review of the head with this record, completed with what is true of the pull request.
func (w *world) review(login string, r verdict.Record) forge.Posted {
	w.t.Helper()
	pr := w.Read(login, w.ref)
	if r.Head == "" {
		r.Head = pr.Head.SHA
	}
	r.Base, r.BaseBranch, r.Guidelines, r.Engine = pr.Base.SHA, pr.Base.Name, "1a2b3c", "claude"
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		w.t.Fatal(err)
	}
	posted, err := forge.NewPoster(w.Client(login)).PostReview(w.t.Context(), w.ref, forge.Review{SHA: pr.Head.SHA, Event: string(r.Verdict), Body: "The review.\n\n" + seal})
	if err != nil {
		w.t.Fatal(err)
	}
	return posted
}

// says posts a person's review.
func (w *world) says(event string) {
	w.t.Helper()
	w.Read(loopback.Person, w.ref) // settles
	w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("pulls/%d/reviews", w.ref.Number), map[string]string{"event": event, "body": "I say so."}, nil)
}

func (w *world) status(state string) {
	w.t.Helper()
	w.Call(loopback.Root, http.MethodPost, "statuses/"+w.Read(loopback.Root, w.ref).Head.SHA, map[string]string{"context": "build", "state": state}, nil)
}

// rewind takes the tip off main again, as a force push does.
func (w *world) rewind(tip string) {
	w.t.Helper()
	var commit struct{ Parents []struct{ SHA string } }
	w.Call(loopback.Root, http.MethodGet, "git/commits/"+tip, nil, &commit)
	w.Call(loopback.Root, http.MethodPatch, "git/refs/heads/main", map[string]any{"sha": commit.Parents[0].SHA, "force": true}, nil)
}

// force pushes the head back to main's tip and a commit of other files, by force.
func (w *world) force(message string) {
	w.t.Helper()
	sha := w.Commit("other-"+message, message, map[string]string{"code.txt": message + "\n"})
	w.Call(loopback.Person, http.MethodPatch, "git/refs/heads/topic", map[string]any{"sha": sha, "force": true}, nil)
}

func (w *world) merge() string {
	w.t.Helper()
	sha, err := forge.NewMerger(w.Client(loopback.Author)).SquashMerge(w.t.Context(), w.ref, forge.SquashRequest{SHA: w.Read(loopback.Author, w.ref).Head.SHA, Title: "Change code"})
	if err != nil {
		w.t.Fatal(err)
	}
	return sha
}

// settings are those of the agents.
func settings() config.Config {
	cfg := config.Default()
	cfg.Reviewers = []string{"Judge"}
	return cfg
}

// asks are those of an account that somebody asks for, reading as a client does.
func asks(read daemon.Reader, cfg config.Config) audit.Settings {
	return audit.Settings{Reviewers: cfg.Reviewers, Rights: cfg.Rights, State: daemon.Onlooker{Read: read, Config: cfg}.State}
}

func (w *world) why() (audit.Chain, string) {
	w.t.Helper()
	w.Read(loopback.Root, w.ref) // settles
	client := w.Client(loopback.Person)
	chain, err := audit.Gather(w.t.Context(), client, w.ref, asks(client, settings()))
	if err != nil {
		w.t.Fatal(err)
	}
	var text strings.Builder
	if err := chain.Write(&text); err != nil {
		w.t.Fatal(err)
	}
	return chain, text.String()
}

var finding = verdict.Entry{
	ID: "0a1b2c3d", Status: verdict.Open, Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S1",
	Path: "code.txt", Line: 1, Claim: "This is unsafe.", First: 1, Last: 1,
}

func as(status verdict.Status) verdict.Entry {
	f := finding
	f.Status = status
	return f
}

func TestWhyItWasMerged(t *testing.T) {
	w := start(t)
	first := w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}, CostUSD: 0.25, Tokens: verdict.Tokens{Input: 10, Output: 5}, Duration: time.Minute})
	fix := w.Commit("topic", "Make it safe\n\nTouchstone-Round: 1\nTouchstone-Findings: 0a1b2c3d, 4e5f6071\n", map[string]string{"code.txt": "safe()\n"})
	second := w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 2, Ledger: verdict.Ledger{as(verdict.Verified)}, CostUSD: 0.5, Tokens: verdict.Tokens{CacheRead: 85}, Duration: time.Minute})
	w.status("success")
	sha := w.merge()

	chain, text := w.why()
	if chain.State != "merged" || chain.Merge == nil || chain.Merge.SHA != sha || chain.Merge.By != loopback.Author || chain.Head != fix || chain.Approved != 2 {
		t.Errorf("state %s, head %s, approved in round %d, %+v", chain.State, chain.Head, chain.Approved, chain.Merge)
	}
	if len(chain.Missing) != 0 || len(chain.Warnings) != 0 {
		t.Errorf("missing %q, warnings %q", chain.Missing, chain.Warnings)
	}
	if len(chain.Rounds) != 2 || chain.Rounds[0].Review != first.ID || chain.Rounds[1].Review != second.ID || chain.Rounds[1].Record.Guidelines != "1a2b3c" || chain.Rounds[0].SHA == chain.Rounds[1].SHA {
		t.Errorf("rounds %+v", chain.Rounds)
	}
	if len(chain.Findings) != 1 || chain.Findings[0].Status != verdict.Verified {
		t.Errorf("findings %+v", chain.Findings)
	}
	if len(chain.Commits) != 2 || chain.Commits[1].SHA != fix || !slices.Equal(chain.Commits[1].Fixes, []string{"0a1b2c3d", "4e5f6071"}) || chain.Commits[0].Subject != "Change code" {
		t.Errorf("commits %+v", chain.Commits)
	}
	if len(chain.Incidents) != 0 {
		t.Errorf("the merge itself is among the incidents: %+v", chain.Incidents)
	}
	if chain.CostUSD != 0.75 || chain.Tokens != 100 || chain.Duration != 2*time.Minute {
		t.Errorf("cost %f, %d tokens, %s", chain.CostUSD, chain.Tokens, chain.Duration)
	}
	for _, want := range []string{
		"Merged as " + sha[:7] + " by alice", fix[:7] + " was approved by judge in round 2: " + second.URL, "0a1b2c3d  verified  critical  Security  security/S1",
		"(fixes 0a1b2c3d, 4e5f6071)", "guidelines 1a2b3c", "build  success", "Cost: $0.75, 100 tokens and 2m0s of sessions; rounds that count: 2 of 2",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	data, err := json.Marshal(chain)
	if err != nil || strings.Contains(string(data), "null") {
		t.Errorf("as JSON, %v: %s", err, data)
	}
}

func TestWhyItIsNotMerged(t *testing.T) {
	approved := verdict.Record{Verdict: verdict.Approve, Round: 1}
	lifted := verdict.Record{Verdict: verdict.Approve, Round: 1, Holds: []verdict.Hold{{Kind: verdict.QualityBar, Detail: "A test is skipped."}}, Lifted: &verdict.Word{By: loopback.Person, At: time.Now(), Why: "It is flaky."}}
	for name, test := range map[string]struct {
		happens func(w *world)
		want    []string // each in one of what is missing, which are no more
	}{
		"nobody reviewed it": {func(w *world) { w.status("success") }, []string{"nobody has asked Judge for a review", "no review that counts approved"}},
		"changes are requested": {func(w *world) {
			w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding, as(verdict.Verified)}})
			w.status("success")
		}, []string{"requests changes, round 1: 1 critical"}},
		"it is held": {func(w *world) {
			w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Holds: lifted.Holds})
			w.status("success")
		}, []string{"is held for a person, who has to approve it in a review: the quality bar is lowered"}},
		"the approval is of an older head": {func(w *world) {
			w.review(loopback.Judge, approved)
			w.Commit("topic", "More", map[string]string{"more.txt": "x\n"})
			w.status("success")
		}, []string{"no review that counts approved"}},
		"a person objects": {func(w *world) {
			w.says("REQUEST_CHANGES")
			w.review(loopback.Judge, approved)
			w.status("success")
		}, []string{"walter requests changes since"}},
		"a person objected": {func(w *world) {
			w.says("REQUEST_CHANGES")
			w.says("APPROVE")
			w.review(loopback.Judge, approved)
			w.status("success")
		}, []string{"nothing that GitHub shows"}},
		"checks": {func(w *world) {
			w.review(loopback.Judge, approved)
			w.status("pending")
		}, []string{`the check "build" is pending`}},
		"no checks": {func(w *world) { w.review(loopback.Judge, approved) }, []string{`the check "build", which reported on an earlier head or on main, has not begun`}},
		"labels, a draft and a conflict": {func(w *world) {
			w.review(loopback.Judge, approved)
			w.status("success")
			w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("issues/%d/labels", w.ref.Number), map[string]any{"labels": []string{"needs-human", "bug"}}, nil)
			w.Commit("main", "Change code too", map[string]string{"code.txt": "other\n"})
		}, []string{"it waits for a person since", "it conflicts with main"}},
		"let pass": {func(w *world) {
			w.says("APPROVE")
			w.review(loopback.Judge, lifted)
			w.status("success")
		}, []string{"nothing that GitHub shows"}},
		"let pass by an approval of an older head": {func(w *world) {
			w.says("APPROVE")
			w.Commit("topic", "More", map[string]string{"more.txt": "x\n"})
			w.review(loopback.Judge, lifted)
			w.status("success")
		}, []string{"walter, who let"}},
		"a person objects, and comments": {func(w *world) {
			w.says("REQUEST_CHANGES")
			w.says("COMMENT")
			w.review(loopback.Judge, approved)
			w.status("success")
		}, []string{"walter requests changes since"}},
		"let pass, and taken back": {func(w *world) {
			w.says("APPROVE")
			w.review(loopback.Judge, lifted)
			w.says("REQUEST_CHANGES")
			w.status("success")
		}, []string{"walter, who let", "walter requests changes since"}},
		"the base was rewritten": {func(w *world) {
			old := w.Commit("main", "Something", map[string]string{"other.txt": "x\n"})
			w.review(loopback.Judge, approved)
			w.status("success")
			w.rewind(old)
		}, []string{"main was rewritten since judge approved"}},
		"the base was rewritten, and it was reviewed again": {func(w *world) {
			old := w.Commit("main", "Something", map[string]string{"other.txt": "x\n"})
			w.review(loopback.Judge, approved)
			w.status("success")
			w.rewind(old)
			w.review(loopback.Judge, approved)
		}, []string{"nothing that GitHub shows"}},
		"its repository has people merge": {func(w *world) {
			w.Commit("main", "Merge by hand", map[string]string{config.RepositoryPath: "merge:\n  auto: false\n"})
			w.review(loopback.Judge, approved)
			w.status("success")
		}, []string{"its author has to merge it: merge.auto is off in " + config.RepositoryPath}},
		"its repository has people merge what it changes": {func(w *world) {
			w.Commit("main", "Merge by hand", map[string]string{config.RepositoryPath: "merge:\n  manual: ['code.txt']\n"})
			w.review(loopback.Judge, approved)
			w.status("success")
		}, []string{"its author has to merge it: merge.manual in " + config.RepositoryPath + " names"}},
		"closed": {func(w *world) {
			w.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]string{"state": "closed"}, nil)
			w.status("success")
		}, []string{"the pull request is closed", "nobody has asked Judge for a review", "no review that counts approved"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			test.happens(w)
			chain, text := w.why()
			if len(chain.Missing) != len(test.want) {
				t.Errorf("missing %q; want %d", chain.Missing, len(test.want))
			}
			for _, want := range test.want {
				if !slices.ContainsFunc(chain.Missing, func(m string) bool { return strings.Contains(m, want) }) || !strings.Contains(text, want) {
					t.Errorf("missing %q; want it to say %q, and the text too:\n%s", chain.Missing, want, text)
				}
			}
			if len(chain.Warnings) > 0 {
				t.Errorf("warnings %q", chain.Warnings)
			}
		})
	}
}

// Which review counts is the agents' decision, and not told otherwise.
func TestWhatCountsIsWhatTheAgentsHeed(t *testing.T) {
	t.Parallel()
	approved, objects := verdict.Record{Verdict: verdict.Approve, Round: 1}, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}}
	later := func(r verdict.Record) verdict.Record { r.Round++; return r }
	dismiss := func(w *world, review int64) {
		w.Call(loopback.Root, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d/dismissals", w.ref.Number, review), map[string]string{"message": "No."}, nil)
	}
	for name, test := range map[string]struct {
		happens func(w *world)
		want    string
	}{
		"a later review was edited": {func(w *world) {
			w.review(loopback.Judge, approved)
			posted := w.review(loopback.Judge, later(objects))
			body := w.Read(loopback.Judge, w.ref).Reviews[1].Body
			w.Call(loopback.Judge, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d", w.ref.Number, posted.ID), map[string]string{"body": "See. " + body}, nil)
		}, "by judge does not count: it was edited"},
		"a later review was dismissed": {func(w *world) {
			w.review(loopback.Judge, approved)
			dismiss(w, w.review(loopback.Judge, later(objects)).ID)
		}, "by judge was dismissed: request it again"},
		"two machines at once": {func(w *world) {
			w.review(loopback.Judge, objects)
			w.review(loopback.Judge, approved)
		}, "by judge requests changes, round 1: 1 critical"},
		"a person's approval was dismissed": {func(w *world) {
			w.says("REQUEST_CHANGES")
			w.says("APPROVE")
			reviews := w.Read(loopback.Root, w.ref).Reviews
			dismiss(w, reviews[len(reviews)-1].ID)
			w.review(loopback.Judge, approved)
		}, "walter requests changes since"},
		"the order to break the glass is gone": {func(w *world) {
			broken := later(approved)
			broken.Lifted = &verdict.Word{By: loopback.Root, At: time.Now(), Why: "It burns.", Glass: true}
			w.review(loopback.Judge, broken)
		}, "root, who broke the glass for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.status("success")
			test.happens(w)
			chain, text := w.why()
			if len(chain.Missing) != 1 || !strings.Contains(chain.Missing[0], test.want) {
				t.Errorf("missing %q; want %q:\n%s", chain.Missing, test.want, text)
			}
		})
	}
}

// TestAStopThatSomebodyEditedIsTold by the decision that heeds it.
func TestAStopThatSomebodyEditedIsTold(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1})
	w.status("success")
	var made struct{ ID int64 }
	w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": "/touchstone stop"}, &made)
	w.Call(loopback.Root, http.MethodPatch, fmt.Sprintf("issues/comments/%d", made.ID), map[string]string{"body": "Never mind."}, nil)
	chain, text := w.why()
	if want := "root edited or deleted a comment of walter's that stopped the agents"; len(chain.Missing) != 1 || !strings.HasPrefix(chain.Missing[0], want) {
		t.Errorf("missing %q; want %q:\n%s", chain.Missing, want, text)
	}
}

// TestNoApprovalIsToldBesideItsLack: what one review says is no approval of the head as long as something is missing for
// that.
func TestNoApprovalIsToldBesideItsLack(t *testing.T) {
	t.Parallel()
	approved := verdict.Record{Verdict: verdict.Approve, Round: 1}
	for name, happens := range map[string]func(w *world){
		"another base": func(w *world) {
			w.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]string{"base": "release"}, nil)
		},
		"another review": func(w *world) {
			w.review(loopback.Root, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}})
		},
		"a merge by hand of another base": func(w *world) {
			w.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]string{"base": "release"}, nil)
			w.merge()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Commit("release", "Release", map[string]string{"release.txt": "1\n"})
			w.review(loopback.Judge, approved)
			w.status("success")
			happens(w)
			w.Read(loopback.Root, w.ref) // settles
			cfg, client := settings(), w.Client(loopback.Person)
			cfg.Reviewers = append(cfg.Reviewers, loopback.Root)
			chain, err := audit.Gather(t.Context(), client, w.ref, asks(client, cfg))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := chain.Write(&text); err != nil {
				t.Fatal(err)
			}
			if chain.Approved != 0 || strings.Contains(text.String(), "was approved by") || len(chain.Missing) == 0 {
				t.Errorf("approved in round %d, missing %q:\n%s", chain.Approved, chain.Missing, text.String())
			}
		})
	}
}

func TestAMergeThatLackedSomething(t *testing.T) {
	w := start(t)
	w.merge()
	chain, text := w.why()
	want := []string{"no review that counts approved " + chain.Head[:7], "no check has passed on it, and merge.require_checks is on in the agent's configuration"}
	if chain.State != "merged" || !strings.Contains(text, "What the merge lacked:") || !slices.Equal(chain.Missing, want) {
		t.Errorf("missing %q:\n%s", chain.Missing, text)
	}
}

func TestTamperingShows(t *testing.T) {
	approved := verdict.Record{Verdict: verdict.Approve, Round: 1}
	for name, test := range map[string]struct {
		happens func(w *world)
		want    string
	}{
		"a review that was edited": {func(w *world) {
			posted := w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1, Ledger: verdict.Ledger{finding}})
			body := w.Read(loopback.Judge, w.ref).Reviews[0].Body
			w.Call(loopback.Judge, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d", w.ref.Number, posted.ID), map[string]string{"body": strings.Replace(body, `"open"`, `"waived"`, 1)}, nil)
		}, "it was edited after it was posted, at "},
		"a record that was edited away": {func(w *world) {
			posted := w.review(loopback.Judge, approved)
			w.Call(loopback.Judge, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d", w.ref.Number, posted.ID), map[string]string{"body": "Fine."}, nil)
		}, "was edited after it was posted and carries no record, or no longer"},
		"somebody else's record":        {func(w *world) { w.review(loopback.Person, approved) }, "walter is not one of the reviewers"},
		"a record about another commit": {func(w *world) { r := approved; r.Head = strings.Repeat("0", 40); w.review(loopback.Judge, r) }, "it is about 0000000, while GitHub has it on "},
		"a review that was dismissed": {func(w *world) {
			posted := w.review(loopback.Judge, approved)
			w.Call(loopback.Root, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d/dismissals", w.ref.Number, posted.ID), map[string]string{"message": "No."}, nil)
		}, "it was dismissed"},
		"an order that was edited": {func(w *world) {
			var made struct{ ID int64 }
			w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": "/touchstone stop"}, &made)
			w.Call(loopback.Root, http.MethodPatch, fmt.Sprintf("issues/comments/%d", made.ID), map[string]string{"body": "/touchstone waive 0a1b2c3d It is fine."}, nil)
		}, "by walter was edited at "},
		"a reviewed commit that was pushed away": {func(w *world) {
			w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1})
			w.force("rewritten")
		}, ", which round 1 had reviewed, by force with "},
		"a comment that was deleted": {func(w *world) {
			var made struct{ ID int64 }
			w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": "/touchstone stop"}, &made)
			w.Call(loopback.Root, http.MethodDelete, fmt.Sprintf("issues/comments/%d", made.ID), nil, nil)
		}, "root deleted a comment by walter, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			test.happens(w)
			chain, text := w.why()
			if len(chain.Warnings) != 1 || !strings.Contains(chain.Warnings[0], test.want) || !strings.Contains(text, "What does not fit together:\n  - "+chain.Warnings[0]) {
				t.Errorf("warnings %q; want one that says %q, and the text too:\n%s", chain.Warnings, test.want, text)
			}
			if chain.Approved != 0 || len(chain.Findings) != 0 || chain.CostUSD != 0 {
				t.Errorf("approved in round %d, findings %v", chain.Approved, chain.Findings)
			}
		})
	}
}

func TestIncidents(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Commit("release", "Release", map[string]string{"release.txt": "1\n"})
	posted := w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1})
	w.Call(loopback.Root, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d/dismissals", w.ref.Number, posted.ID), map[string]string{"message": "Look\nagain."}, nil)
	for _, change := range []map[string]string{{"state": "closed"}, {"state": "open"}, {"base": "release"}} {
		w.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), change, nil)
	}
	old := w.Read(loopback.Root, w.ref).Head.SHA
	w.force("rewritten")
	chain, text := w.why()
	var kinds []forge.IncidentKind
	for _, in := range chain.Incidents {
		if kinds = append(kinds, in.Kind); in.By == "" || in.At.IsZero() {
			t.Errorf("nobody did %+v, or at no time", in)
		}
	}
	if want := []forge.IncidentKind{forge.ReviewDismissed, forge.Closed, forge.Reopened, forge.BaseChanged, forge.HeadForcePushed}; !slices.Equal(kinds, want) {
		t.Errorf("incidents %v, want %v", kinds, want)
	}
	for _, want := range []string{
		fmt.Sprintf("root    dismissed review %d, which said APPROVED:", posted.ID), "  Look again.\n", "alice   closed it\n", "alice   opened it again\n",
		"alice   changed the base from main to release\n", "walter  pushed the head by force, from " + old[:7] + " to " + chain.Head[:7] + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

func TestWhatFixesSayTheyTook(t *testing.T) {
	t.Parallel()
	w := start(t)
	repair := verdict.Repair{
		Reviewed: strings.Repeat("a", 40), Findings: []string{"0a1b2c3d"}, Disputed: []string{"4e5f6a7b It is tested."}, Cost: verdict.Cost{USD: 0.5, Time: 90 * time.Second},
	}
	w.Commit("topic", "Apply the review\n\n"+repair.Trailers(), map[string]string{"code.txt": "safe()\n"})
	chain, text := w.why()
	if last := chain.Commits[len(chain.Commits)-1]; chain.FixCostUSD != 0.5 || chain.FixDuration != 90*time.Second || !slices.Equal(last.Fixes, repair.Findings) || !slices.Equal(last.Disputes, repair.Disputed) {
		t.Errorf("%v and %v, the fix is %+v", chain.FixCostUSD, chain.FixDuration, last)
	}
	for _, want := range []string{"(fixes 0a1b2c3d) (disputes 4e5f6a7b It is tested.)", "The fixes, as their commits say: $0.50 and 1m30s\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

func TestWhoOrderedWhat(t *testing.T) {
	w := start(t)
	say := func(login, body string) {
		w.Call(login, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": body}, nil)
	}
	say(loopback.Person, "/touchstone waive 0a1b2c3d It is only a test.\nAnd so on.")
	say(loopback.Person, "Thanks!")
	say(loopback.Person, "/touchstone dance")
	say(loopback.Root, "/touchstone stop")
	chain, text := w.why()
	if len(chain.Orders) != 2 {
		t.Fatalf("orders %+v; want two", chain.Orders)
	}
	// To waive takes the right to maintain.
	if o := chain.Orders[0]; o.By != loopback.Person || o.Verb != "waive" || o.Finding != "0a1b2c3d" || o.Reason != "It is only a test." || o.May != "write" || o.Counts || o.At.IsZero() {
		t.Errorf("the first order is %+v", o)
	}
	if o := chain.Orders[1]; o.By != loopback.Root || o.Verb != "stop" || o.May != "admin" || !o.Counts {
		t.Errorf("the second order is %+v", o)
	}
	for _, want := range []string{"walter (write)  DOES NOT COUNT  /touchstone waive  0a1b2c3d  It is only a test.", "root has stopped the agents here"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	say(loopback.Root, "/touchstone waive 0badcafe It is only a test.")
	chain, text = w.why()
	if o := chain.Orders[2]; o.Counts || !strings.Contains(o.Unclear, "No finding here has the id") || !strings.Contains(text, o.Unclear) {
		t.Errorf("an order about no finding is %+v in\n%s", o, text)
	}
	say(loopback.Person, "/touchstone resume")
	if _, text := w.why(); strings.Contains(text, "has stopped the agents") {
		t.Error("it is resumed:\n" + text)
	}
}

// Where rights cannot be seen, an order is listed all the same, and to stop counts.
func TestOrdersOfThoseWhoseRightsCannotBeSeen(t *testing.T) {
	w := start(t)
	for _, body := range []string{"/touchstone stop", "/touchstone resume"} {
		w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": body}, nil)
	}
	w.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/permission") {
			return githubsim.Fault{Status: http.StatusNotFound}
		}
		return githubsim.Fault{}
	})
	chain, text := w.why()
	if len(chain.Orders) != 2 || !chain.Orders[0].Counts || chain.Orders[1].Counts || !strings.Contains(text, "walter (not visible)") {
		t.Errorf("orders %+v in\n%s", chain.Orders, text)
	}
}

// TestWhatIsHeldIsTold with the place where it is.
func TestWhatIsHeldIsTold(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Holds: []verdict.Hold{
		{Kind: verdict.QualityBar, Rule: "test/T1", Path: "code.txt", Line: 5, Detail: "A test is skipped."}, {Kind: verdict.HiddenText, Detail: "In the description."},
	}})
	_, text := w.why()
	for _, want := range []string{"code.txt:5 ", "the change as a whole  In the description."} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

// An order counts here if it counts for the agents.
func TestRightsDecideWhatCounts(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}})
	for _, body := range []string{"/touchstone waive 0a1b2c3d It is only a test.", "/touchstone break-glass It burns."} {
		for _, login := range []string{loopback.Person, loopback.Root} {
			w.Call(login, http.MethodPost, fmt.Sprintf("issues/%d/comments", w.ref.Number), map[string]string{"body": body}, nil)
		}
	}
	w.Read(loopback.Root, w.ref)
	for rights, want := range map[config.Rights][]bool{
		{Waive: config.RightMaintain, BreakGlass: config.RightMaintain}: {false, true, false, true},
		{Waive: config.RightWrite, BreakGlass: config.RightAdmin}:       {true, true, false, true},
		{Waive: config.RightAdmin, BreakGlass: config.RightWrite}:       {false, true, true, true},
	} {
		cfg := settings()
		cfg.Rights = rights
		client := w.Client(loopback.Person)
		chain, err := audit.Gather(t.Context(), client, w.ref, asks(client, cfg))
		if err != nil {
			t.Fatal(err)
		}
		var counted []bool
		for _, o := range chain.Orders {
			counted = append(counted, o.Counts)
		}
		if !slices.Equal(counted, want) {
			t.Errorf("with %+v, these count: %v, want %v", rights, counted, want)
		}
	}
}

// asGitHub answers otherwise what the simulator would say of rules that it has not got.
type asGitHub struct {
	audit.Reader
	says func(*forge.PullRequest)
}

func (g asGitHub) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	pr, err := g.Reader.PullRequest(ctx, ref)
	g.says(&pr)
	return pr, err
}

func TestWhatGitHubWaitsForIsMissing(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1})
	w.status("success")
	w.Read(loopback.Root, w.ref)
	for want, says := range map[string]func(*forge.PullRequest){
		"nothing that GitHub shows":       func(*forge.PullRequest) {},
		"the rules of main do not let it": func(pr *forge.PullRequest) { pr.Blocked = true },
		"conversations resolved, of which 1 stand open": func(pr *forge.PullRequest) {
			pr.Blocked, pr.Threads = true, []forge.Thread{{Resolved: true}, {}}
		},
		"GitHub is computing whether it merges": func(pr *forge.PullRequest) { pr.Mergeable = forge.MergeableUnknown },
		"its base main is the branch of #7":     func(pr *forge.PullRequest) { pr.Stacked = 7 },
		"it comes from a fork":                  func(pr *forge.PullRequest) { pr.Fork = true },
		"it is in the merge queue":              func(pr *forge.PullRequest) { pr.InQueue, pr.Blocked = true, true },
	} {
		client := w.Client(loopback.Person)
		chain, err := audit.Gather(t.Context(), asGitHub{client, says}, w.ref, asks(client, settings()))
		if err != nil || len(chain.Missing) != 1 || !strings.Contains(chain.Missing[0], want) {
			t.Errorf("missing %q, %v; want %q", chain.Missing, err, want)
		}
	}
}

func TestTheTerminalIsSafe(t *testing.T) {
	var text strings.Builder
	chain := audit.Chain{
		Title: "\x1b]0;owned\a \u202egnp.exe\nMissing: nothing", Commits: []audit.Commit{{Subject: "a\tb\x9b31m", By: "\u200bx"}},
		Missing: []string{"the check \"\x1b[2J\" is pending"}, Findings: []verdict.Entry{{Claim: "\r\x1b[1A", Rule: "\x00"}},
	}
	if err := chain.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, r := range text.String() {
		if r != '\n' && (r < ' ' || r == 0x9b || r == '\u202e' || r == '\u200b') {
			t.Fatalf("%q reaches the terminal:\n%q", r, text.String())
		}
	}
	if strings.Contains(text.String(), "\nMissing") {
		t.Error("a title makes a line of its own")
	}
}
