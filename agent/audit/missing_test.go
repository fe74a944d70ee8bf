package audit_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func TestMissingNamesWhatStopsTheMerge(t *testing.T) {
	approved := verdict.Record{Verdict: verdict.Approve, Round: 1}
	lifted := verdict.Record{Verdict: verdict.Approve, Round: 1,
		Holds:  []verdict.Hold{{Kind: verdict.QualityBar, Detail: "A test is skipped."}},
		Lifted: &verdict.Word{By: loopback.Person, At: time.Now(), Why: "It is flaky."}}
	for name, test := range map[string]struct {
		happens func(w *world)
		want    []string // each in one of what is missing, which are no more
	}{
		"nobody reviewed it": {func(w *world) { w.status("success") },
			[]string{"nobody has asked Judge for a review", "no review that counts approved"}},
		"changes are requested": {func(w *world) {
			w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1,
				Ledger: verdict.Ledger{finding, as(verdict.Verified)}})
			w.status("success")
		}, []string{"requests changes, round 1: 1 critical"}},
		"it is held": {func(w *world) {
			w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Holds: lifted.Holds})
			w.status("success")
		}, []string{"in a review: the quality bar is lowered"}},
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
		"no checks": {func(w *world) { w.review(loopback.Judge, approved) },
			[]string{`the check "build", which reported on an earlier head or on main, has not started`}},
		"labels, a draft and a conflict": {func(w *world) {
			w.review(loopback.Judge, approved)
			w.status("success")
			w.Call(loopback.Person, http.MethodPost, fmt.Sprintf("issues/%d/labels", w.ref.Number),
				map[string]any{"labels": []string{"needs-human", "bug"}}, nil)
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
		}, []string{"main was force-pushed since judge approved"}},
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

// TestOnlyReviewsThatTheAgentsHeedCount checks that the report counts the same reviews as the agents'
// decision.
func TestOnlyReviewsThatTheAgentsHeedCount(t *testing.T) {
	t.Parallel()
	approved, objects := verdict.Record{Verdict: verdict.Approve, Round: 1},
		verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}}
	later := func(r verdict.Record) verdict.Record { r.Round++; return r }
	for name, test := range map[string]struct {
		happens func(w *world)
		want    string
	}{
		"a later review was edited": {func(w *world) {
			w.review(loopback.Judge, approved)
			posted := w.review(loopback.Judge, later(objects))
			body := w.Read(loopback.Judge, w.ref).Reviews[1].Body
			w.Call(loopback.Judge, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d", w.ref.Number, posted.ID),
				map[string]string{"body": "See. " + body}, nil)
		}, "by judge is ignored: it was edited"},
		"a later review was dismissed": {func(w *world) {
			w.review(loopback.Judge, approved)
			w.dismiss(w.review(loopback.Judge, later(objects)).ID, "No.")
		}, "by judge was dismissed: request it again"},
		"two machines at once": {func(w *world) {
			w.review(loopback.Judge, objects)
			w.review(loopback.Judge, approved)
		}, "by judge requests changes, round 1: 1 critical"},
		"a person's approval was dismissed": {func(w *world) {
			w.says("REQUEST_CHANGES")
			w.says("APPROVE")
			reviews := w.Read(loopback.Root, w.ref).Reviews
			w.dismiss(reviews[len(reviews)-1].ID, "No.")
			w.review(loopback.Judge, approved)
		}, "walter requests changes since"},
		"the break-glass order is gone": {func(w *world) {
			broken := later(approved)
			broken.Lifted = &verdict.Word{By: loopback.Root, At: time.Now(), Why: "It burns.", BrokeGlass: true}
			w.review(loopback.Judge, broken)
		}, "the break-glass order by root is no longer valid"},
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

// TestEditedStopStillStops by the decision that follows it.
func TestEditedStopStillStops(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1})
	w.status("success")
	order := w.comment(loopback.Person, "/touchstone stop")
	w.Call(loopback.Root, http.MethodPatch, fmt.Sprintf("issues/comments/%d", order), map[string]string{"body": "Never mind."}, nil)
	chain, text := w.why()
	if want := "root edited or deleted a comment by walter that stopped the agents"; len(chain.Missing) != 1 ||
		!strings.HasPrefix(chain.Missing[0], want) {
		t.Errorf("missing %q; want %q:\n%s", chain.Missing, want, text)
	}
}

// TestNoApprovalIsClaimedWhereSomethingIsMissing checks that one review is not reported as an approval of the
// head while something is missing for the approval.
func TestNoApprovalIsClaimedWhereSomethingIsMissing(t *testing.T) {
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

func TestMergeWithoutApprovalNamesWhatItLacked(t *testing.T) {
	w := start(t)
	w.merge()
	chain, text := w.why()
	want := []string{"no review that counts approved " + chain.Head[:7],
		"no check has passed on it, and merge.require_checks is on in the agent's configuration"}
	if chain.State != "merged" || !strings.Contains(text, "What was missing at the merge:") || !slices.Equal(chain.Missing, want) {
		t.Errorf("missing %q:\n%s", chain.Missing, text)
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

func TestMissingNamesWhatGitHubWaitsFor(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1})
	w.status("success")
	w.Read(loopback.Root, w.ref)
	for want, says := range map[string]func(*forge.PullRequest){
		"nothing that GitHub shows":         func(*forge.PullRequest) {},
		"the rules of main block the merge": func(pr *forge.PullRequest) { pr.Blocked = true },
		"resolved conversations, of which 1 are open": func(pr *forge.PullRequest) {
			pr.Blocked, pr.Threads = true, []forge.Thread{{Resolved: true}, {}}
		},
		"GitHub is computing whether it can be merged":            func(pr *forge.PullRequest) { pr.Mergeable = forge.MergeableUnknown },
		"its base main is the branch of another pull request, #7": func(pr *forge.PullRequest) { pr.Stacked = 7 },
		"it comes from a fork":                                    func(pr *forge.PullRequest) { pr.Fork = true },
		"it is in the merge queue":                                func(pr *forge.PullRequest) { pr.InQueue, pr.Blocked = true, true },
	} {
		client := w.Client(loopback.Person)
		chain, err := audit.Gather(t.Context(), asGitHub{client, says}, w.ref, asks(client, settings()))
		if err != nil || len(chain.Missing) != 1 || !strings.Contains(chain.Missing[0], want) {
			t.Errorf("missing %q, %v; want %q", chain.Missing, err, want)
		}
	}
}

// TestAMergeWhoseConditionsCannotBeReadSaysSo checks that the report of a merge does not look as if nothing was missing
// when the token may not read what the merge required.
func TestAMergeWhoseConditionsCannotBeReadSaysSo(t *testing.T) {
	w := start(t)
	w.status("success")
	w.merge()
	client := w.Client(loopback.Person)
	asked := asks(client, settings())
	asked.State = func(context.Context, forge.PullRequest) (decide.State, error) {
		return decide.State{}, fmt.Errorf("read the rules: %w", forge.ErrForbidden)
	}
	chain, err := audit.Gather(t.Context(), client, w.ref, asked)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := chain.Write(&text); err != nil {
		t.Fatal(err)
	}
	if want := "cannot tell what the merge lacked: read the rules: forbidden"; !strings.Contains(text.String(), want) ||
		!slices.Equal(chain.Missing, []string{want}) {
		t.Errorf("missing %q; it says\n%s", chain.Missing, text.String())
	}
}
