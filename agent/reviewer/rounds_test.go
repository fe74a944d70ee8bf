package reviewer_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// review has the head reviewed by a session that finds these.
func review(t *testing.T, g *loopback.GitHub, ref forge.Ref, findings ...verdict.Finding) (reviewer.Outcome, forge.PullRequest) {
	t.Helper()
	out, err := newReviewer(t, g, answering(findings...)).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out, g.Read(loopback.Judge, ref)
}

func at(line int, quote string) verdict.Finding {
	f := finding(line)
	f.Quote, f.Claim = quote, "Wrong: "+quote
	return f
}

// TestAFindingSaysInItsThreadWhatIsLeftOfIt covers a partial repair, about which the author sees nothing
// else.
func TestAFindingSaysInItsThreadWhatIsLeftOfIt(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
	out, _ := review(t, g, ref, at(1, "unsafe()"))
	g.Commit("topic", "Repair a half", map[string]string{"code.txt": "half_unsafe()\n"})
	left := at(1, "half_unsafe()")
	left.ID, left.Claim, left.Suggestion = out.Record.Ledger[0].ID, "A half is left.", "safe()"
	for round := 2; round <= 3; round++ {
		if _, pr := review(t, g, ref, left); len(pr.Threads) != 1 || len(pr.Threads[0].Comments) != 2 {
			t.Fatalf("round %d leaves %+v", round, pr.Threads)
		} else if said := pr.Threads[0].Comments[1].Body; !strings.HasPrefix(said, "Still there in round 2.\n\nA half is left.") ||
			!strings.Contains(said, "safe()") || strings.Contains(said, "```suggestion") {
			t.Errorf("the thread says %q", said)
		}
		g.Commit("topic", "Do something else", map[string]string{"other.txt": fmt.Sprint(round)})
	}
}

// TestFindingsOverTheRounds follows two findings: one is repaired, one stays where
// another line has moved it, and in the end both are gone.
func TestFindingsOverTheRounds(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "first_unsafe()\nsecond_unsafe()\n"})
	out, pr := review(t, g, ref, at(1, "first_unsafe()"), at(2, "second_unsafe()"))
	if body := out.Review.Body; !strings.Contains(body, "`/touchstone dispute ID REASON`") || strings.Contains(body, "fixed") {
		t.Errorf("round 1 does not say how to contradict it, or tells of repairs:\n%s", body)
	}
	if len(pr.Threads) != 2 || pr.Threads[0].Resolved || pr.Threads[1].Resolved {
		t.Fatalf("round 1 leaves %+v", pr.Threads)
	}
	g.Commit("topic", "Repair the first", map[string]string{"code.txt": "safe()\n\n\nsecond_unsafe()\n"})
	pr = g.Read(loopback.Judge, ref)
	r := newReviewer(t, g, telling([]verdict.Gone{{ID: out.Record.Ledger[0].ID, How: "It calls safe() now."}}, at(4, "second_unsafe()")))
	out, err := r.Review(t.Context(), pr, reviewer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pr = g.Read(loopback.Judge, ref)
	if len(pr.Threads) != 2 || !pr.Threads[0].Resolved || pr.Threads[1].Resolved {
		t.Errorf("round 2 leaves %+v", pr.Threads)
	}
	if l := out.Record.Ledger; len(l) != 2 || l[0].Status != verdict.Verified || l[1].Status != verdict.Open || l[1].Line != 4 {
		t.Errorf("the ledger is %+v", l)
	}
	if body := out.Review.Body; !strings.Contains(body, "· 1 fixed\n") || !strings.Contains(body, "Still there from earlier rounds") ||
		!strings.Contains(body, "(open since round 1)") || !strings.Contains(body, pr.Threads[1].Comments[0].URL) {
		t.Errorf("what stays is not listed:\n%s", body)
	}
	g.Commit("topic", "Repair the second", map[string]string{"code.txt": "safe()\n"})
	out, pr = review(t, g, ref)
	if out.Record.Verdict != verdict.Approve || len(pr.Threads) != 2 || !pr.Threads[1].Resolved {
		t.Errorf("%s, %+v", out.Record.Verdict, pr.Threads)
	}
	if body := out.Review.Body; !strings.Contains(body, "· nothing found · 1 fixed\n") || strings.Contains(body, "/touchstone") {
		t.Errorf("the approval does not tell of the one that went since the last round alone:\n%s", body)
	}
}

// TestEarlierRoundsAreShown: what was found, and what people answered.
func TestEarlierRoundsAreShown(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe_call()\n"})
	out, pr := review(t, g, ref, at(1, "unsafe_call()"))
	g.Call(loopback.Author, http.MethodPost, fmt.Sprintf("pulls/%d/comments/%d/replies", ref.Number, pr.Threads[0].Comments[0].ID),
		map[string]any{"body": "It is checked in caller.txt:7."}, nil)
	answer := fmt.Sprintf("Say more\n\nTouchstone-Reviewed: %s\nTouchstone-Disputed: %s It is only called by tests.", pr.Head.SHA,
		out.Record.Ledger[0].ID)
	g.Commit("topic", answer, map[string]string{"code.txt": "unsafe_call()\nmore\n"})
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		for _, want := range []string{"disputed [Security] critical security/S3 code.txt:1: Wrong: unsafe_call()",
			"a commit's message says: It is only called by tests.", "It is checked in caller.txt:7."} {
			if !strings.Contains(r.Prompt, want) {
				t.Errorf("the prompt lacks %q", want)
			}
		}
		return telling([]verdict.Gone{{ID: out.Record.Ledger[0].ID, How: "Only tests call it."}})(r)
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil || out.Record.Verdict != verdict.Approve || out.Record.Ledger[0].Status != verdict.Withdrawn {
		t.Errorf("%+v, %v; doubts: %q", out.Record.Ledger, err, out.Judgement.Doubts)
	}
}

// TestFindingWithoutAnAnswerStaysOpen: a finding whose code stands is asked for once more, and
// stays unless something changed that the session can point to.
func TestFindingWithoutAnAnswerStaysOpen(t *testing.T) {
	t.Parallel()
	silent := verdict.Gone{}
	gone := verdict.Gone{How: "The caller checks it."}
	elsewhere := verdict.Gone{How: "The caller checks it.", Path: "caller.txt", Quote: "check()"}
	for name, tc := range map[string]struct {
		push map[string]string
		says []verdict.Gone // turn by turn
		want verdict.Verdict
		note string // what the review says of it, if it stays
		asks string // a part of what the second turn asks
		// claimed says that the push claims to repair it.
		claimed bool
	}{
		"nothing, twice": {push: map[string]string{"more.txt": "more\n"}, says: []verdict.Gone{silent, silent},
			want: verdict.RequestChanges, note: "does not say what became of it"},
		"gone, and nothing changed": {push: map[string]string{"more.txt": "more\n"}, says: []verdict.Gone{gone, gone},
			want: verdict.RequestChanges, note: "its file is as it was"},
		"nothing, then by what": {push: map[string]string{"caller.txt": "check()\n"}, says: []verdict.Gone{silent, elsewhere},
			want: verdict.Approve},
		"by what changed in another file": {push: map[string]string{"caller.txt": "check()\n"}, says: []verdict.Gone{elsewhere},
			want: verdict.Approve},
		"gone, and its own file changed": {push: map[string]string{"code.txt": "check()\nunsafe()\n"}, says: []verdict.Gone{gone},
			want: verdict.Approve},
		"nothing, and its code is gone": {push: map[string]string{"code.txt": "safe()\n"}, says: []verdict.Gone{silent, silent},
			want: verdict.RequestChanges, note: "its code changed, and the session"},
		"nothing, then that its code is gone": {push: map[string]string{"code.txt": "safe()\n"}, says: []verdict.Gone{silent, gone},
			want: verdict.Approve},
		"nothing, half repaired by a fix": {push: map[string]string{"code.txt": "one\ntwo\nif x { call(unsafe(x)) }\n"}, claimed: true,
			says: []verdict.Gone{silent, silent}, want: verdict.RequestChanges, note: "its code changed",
			asks: "when it was found:\none\ntwo\ncall(unsafe())\nnow:\none\ntwo\nif x { call(unsafe(x)) }"},
		"repaired by a fix, then by what": {push: map[string]string{"code.txt": "one\ntwo\nsafe()\n"}, claimed: true,
			says: []verdict.Gone{silent, gone}, want: verdict.Approve},
		"repaired by a fix, and how": {push: map[string]string{"code.txt": "one\ntwo\nsafe()\n"}, claimed: true,
			says: []verdict.Gone{gone}, want: verdict.Approve},
		"nothing, and its file moved": {push: map[string]string{"code.txt": "", "moved.txt": "one\ntwo\ncall(unsafe())\n"},
			says: []verdict.Gone{silent, silent}, want: verdict.RequestChanges, note: "does not say what became of it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "one\ntwo\ncall(unsafe())\n"})
			f := at(3, "call(unsafe())")
			out, _ := review(t, g, ref, f)
			message := "Go on"
			if tc.claimed {
				message += "\n\n" + verdict.Repair{Reviewed: out.Record.Head, Findings: []string{out.Record.Ledger[0].ID}}.Trailers()
			}
			g.Commit("topic", message, tc.push)
			turns, files := 0, ""
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				says := tc.says[min(turns, len(tc.says)-1)]
				says.ID = out.Record.Ledger[0].ID
				turns++
				if turns == 1 {
					_, files, _ = strings.Cut(r.Prompt, "\n# Changed files\n")
				} else if !strings.Contains(r.Prompt, "earlier finding "+says.ID+" stands, because") || !strings.Contains(r.Prompt, tc.asks) {
					t.Errorf("the second turn asks:\n%s", r.Prompt)
				}
				r.Prompt = files + r.Prompt
				return telling([]verdict.Gone{says})(r)
			})
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			if err != nil || out.Record.Verdict != tc.want || turns != len(tc.says) {
				t.Fatalf("%s after %d turns, %v; doubts: %q", out.Record.Verdict, turns, err, out.Judgement.Doubts)
			}
			if stands := len(out.Record.Ledger.Outstanding()) == 1; stands != (tc.want != verdict.Approve) ||
				!strings.Contains(out.Review.Body, tc.note) {
				t.Errorf("the ledger is %+v, the review says:\n%s", out.Record.Ledger, out.Review.Body)
			}
		})
	}
}

// TestLateFindings covers findings in code that the last round saw without reporting them.
func TestLateFindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ratchet bool
		quote   string
		line    int
		late    bool
		want    verdict.Verdict
	}{
		"old code":                        {quote: "old_unsafe()", line: 1, late: true, want: verdict.RequestChanges},
		"new code":                        {quote: "new_unsafe()", line: 3, want: verdict.RequestChanges},
		"old code, where a ratchet holds": {ratchet: true, quote: "old_unsafe()", line: 1, late: true, want: verdict.Approve},
		"new code, where a ratchet holds": {ratchet: true, quote: "new_unsafe()", line: 3, want: verdict.RequestChanges},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := map[string]string{"README.md": "one\n"}
			if tc.ratchet {
				base[".touchstone/config.yaml"] = "review:\n  ratchet: true\n"
			}
			g, ref := opened(t, base, map[string]string{"code.txt": "old_unsafe()\nbad()\n"})
			review(t, g, ref, at(2, "bad()"))
			g.Commit("topic", "Repair it", map[string]string{"code.txt": "old_unsafe()\ngood()\nnew_unsafe()\n"})
			f := at(tc.line, tc.quote)
			// The mildest rule that blocks and is about such a file.
			f.Severity, f.Rule, f.Dimension = verdict.Minor, "doc/D11", verdict.Doc
			text := answering(f)
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				answer, err := text(r)
				if tc.want == verdict.Approve {
					answer = strings.Replace(answer, verdict.Marker(verdict.RequestChanges), verdict.Marker(verdict.Approve), 1)
				}
				return answer, err
			})
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			if err != nil || out.Record.Verdict != tc.want {
				t.Fatalf("%s, %v, %q", out.Record.Verdict, err, out.Judgement.Doubts)
			}
			found := out.Judgement.Answer.Findings
			if len(found) != 1 || found[0].Late != tc.late {
				t.Errorf("found %+v", found)
			}
		})
	}
}

// noSession is an engine that may not be used.
type noSession struct {
	t *testing.T
	engine.Engine
}

func (n noSession) Open(context.Context, engine.Request) (engine.Session, error) {
	n.t.Error("a model was run")
	return nil, engine.Errorf(engine.Crash, "no session")
}

// lift has the reviewer repeat its verdict on a person's word.
func lift(t *testing.T, g *loopback.GitHub, ref forge.Ref, record verdict.Record) {
	t.Helper()
	record.Round++
	record.Lifted = &verdict.Word{By: loopback.Person, At: time.Now(), BrokeGlass: true}
	seal, err := record.Seal(verdict.Signer{})
	if err == nil {
		_, err = forge.NewPoster(g.Client(loopback.Judge)).PostReview(t.Context(), ref,
			forge.Review{SHA: record.Head, Event: string(verdict.Approve), Body: seal})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mergeBase merges the base into the branch, as the button does.
func mergeBase(g *loopback.GitHub, ref forge.Ref) {
	g.Call(loopback.Author, http.MethodPut, fmt.Sprintf("pulls/%d/update-branch", ref.Number), map[string]any{}, nil)
}

// TestApprovalOutlivesAMergeOfTheBase checks that an approval survives a merge of the base, and no other
// change of the head.
func TestApprovalOutlivesAMergeOfTheBase(t *testing.T) {
	t.Parallel()
	base := map[string]string{"README.md": "one\n", "other.txt": "one\n"}
	for name, tc := range map[string]struct {
		push    func(g *loopback.GitHub, ref forge.Ref)
		first   []verdict.Finding
		lifted  bool
		carried bool
		want    verdict.Verdict // if not an approval
	}{
		"the base merged in": {push: func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("main", "Go on", map[string]string{"other.txt": "two\n"})
			mergeBase(g, ref)
		}, carried: true},
		"rules changed on the base": {push: func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("main", "Rule", map[string]string{".touchstone/guidelines/ours.md": "# Ours\n"})
			mergeBase(g, ref)
		}},
		"a commit of its own": {push: func(g *loopback.GitHub, _ forge.Ref) {
			g.Commit("topic", "More", map[string]string{"code.txt": "three\n"})
		}},
		"the base merged in, and a commit": {push: func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("main", "Go on", map[string]string{"other.txt": "two\n"})
			mergeBase(g, ref)
			g.Commit("topic", "More", map[string]string{"code.txt": "three\n"})
		}},
		"what a person let pass": {push: func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("main", "Go on", map[string]string{"other.txt": "two\n"})
			mergeBase(g, ref)
		}, lifted: true},
		"no approval to carry": {push: func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("main", "Go on", map[string]string{"other.txt": "two\n"})
			mergeBase(g, ref)
		}, first: []verdict.Finding{finding(1)}, want: verdict.RequestChanges},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, base, map[string]string{"code.txt": "unsafe()\n"})
			first, _ := review(t, g, ref, tc.first...)
			if tc.lifted {
				lift(t, g, ref, first.Record)
			}
			tc.push(g, ref)
			r := newReviewer(t, g, answering())
			if tc.carried {
				r.Engine = noSession{t: t, Engine: r.Engine}
			}
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			want := cmp.Or(tc.want, verdict.Approve)
			if err != nil || out.Carried != tc.carried || out.Record.Verdict != want {
				t.Fatalf("carried: %v, %s, %v", out.Carried, out.Record.Verdict, err)
			}
			pr := g.Read(loopback.Judge, ref)
			if v, _, ok := reviewer.Standing(pr); !ok || v != want {
				t.Errorf("standing: %s, %v", v, ok)
			}
			if body := pr.Reviews[len(pr.Reviews)-1].Body; strings.Contains(body, "carried over") != tc.carried {
				t.Errorf("it says:\n%s", body)
			}
		})
	}
}

// TestAFindingIsClosedByWhatThePullRequestSays checks that a finding about a contradiction between the
// description and the change closes once the description changes, and not before.
func TestAFindingIsClosedByWhatThePullRequestSays(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "one\n"})
	edit := func(body string) {
		g.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", ref.Number), map[string]any{"body": body}, nil)
	}
	edit("It changes two.txt.")
	ofFile := finding(0)
	ofFile.Quote, ofFile.Claim = "", "The description names another file."
	ofText := ofFile
	ofText.Path, ofText.Quote, ofText.Claim = "description", "It changes two.txt.", "It does not."
	out, _ := review(t, g, ref, ofFile, ofText)
	if l := out.Record.Ledger; len(l) != 2 || l[1].Path != "" || l[1].Code == "" || len(out.Judgement.Dropped) > 0 {
		t.Fatalf("the ledger is %+v, dropped %+v", l, out.Judgement.Dropped)
	}
	again := func() reviewer.Outcome {
		t.Helper()
		var gone []verdict.Gone
		for _, e := range out.Record.Ledger {
			gone = append(gone, verdict.Gone{ID: e.ID, How: "It says so.", Path: "description"})
		}
		out, err := newReviewer(t, g, telling(gone)).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	edit("It changes two.txt.")
	if out := again(); out.Record.Verdict == verdict.Approve || len(out.Record.Ledger.Outstanding()) != 2 {
		t.Errorf("nothing changed, and the ledger is %+v", out.Record.Ledger)
	}
	edit("It changes code.txt.")
	if out := again(); out.Record.Verdict != verdict.Approve || len(out.Record.Ledger.Outstanding()) != 0 {
		t.Errorf("%s, the ledger is %+v, doubts %q", out.Record.Verdict, out.Record.Ledger, out.Judgement.Doubts)
	}
}

// TestADisputeIsToldOnce: by the ledger, and what agents write for themselves is not quoted at all.
func TestADisputeIsToldOnce(t *testing.T) {
	t.Parallel()
	const reason, more = "It is only called by tests.", "See also the second caller."
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe_call()\n"})
	out, pr := review(t, g, ref, at(1, "unsafe_call()"))
	id := out.Record.Ledger[0].ID
	say := func(login, body string) int64 {
		var posted struct{ ID int64 }
		g.Call(login, http.MethodPost, fmt.Sprintf("issues/%d/comments", ref.Number), map[string]any{"body": body}, &posted)
		return posted.ID
	}
	say(loopback.Author, verdict.Disputes(pr.Head.SHA, map[string]string{id: reason}))
	order := say(loopback.Person, "/touchstone dispute "+id+" "+reason+"\n\n"+more)
	say(loopback.Person, "/touchstone review")
	say(loopback.Person, "/touchstone dispute ffffffff There is no such finding.")
	g.Call(loopback.Author, http.MethodPost, fmt.Sprintf("pulls/%d/comments/%d/replies", ref.Number, pr.Threads[0].Comments[0].ID),
		map[string]any{"body": verdict.DisputeAnswer(reason) + "\n\n<!-- touchstone:answer v1 -->"}, nil)
	g.Commit("topic", "Say more\n\n"+verdict.Repair{Reviewed: pr.Head.SHA, Disputed: []string{id + " " + reason}, Change: "0123456789abcdef",
		Tests: "1 lost", Cost: verdict.Cost{USD: 1, Time: time.Minute}}.Trailers(), map[string]string{"code.txt": "unsafe_call()\nmore\n"})
	for name, orders := range map[string][]verdict.Command{
		"in the message": nil,
		"in a comment":   {{Verb: verdict.Dispute, Finding: id, Reason: reason, ID: order, By: loopback.Person, At: time.Now()}},
	} {
		r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
			want := map[string]int{more: 1, "/touchstone review": 0, "touchstone:": 0, "There is no such finding.": 1,
				"Touchstone-Reviewed": 0, "Touchstone-Change": 0, "Touchstone-Cost": 0, "Touchstone-Tests: 1 lost": 1, "says: " + reason: 1}
			want[reason] = 1 // in the ledger
			if orders != nil {
				want[reason] = 2 // the commit's, too, which is not what counts
			}
			if !strings.Contains(r.Prompt, "# This review") {
				want = nil // it is asked once more for what the answer lacks
			}
			for text, n := range want {
				if got := strings.Count(r.Prompt, text); got != n {
					t.Errorf("%s: %q is there %d times, not %d", name, text, got, n)
				}
			}
			return answering(at(1, "unsafe_call()"))(r)
		})
		if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true, Orders: orders}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnUpheldDisputeIsSaidInItsThread checks that the thread gets the reason, even if the finding stays as
// it was.
func TestAnUpheldDisputeIsSaidInItsThread(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe_call()\n"})
	out, _ := review(t, g, ref, at(1, "unsafe_call()"))
	id := out.Record.Ledger[0].ID
	again := at(1, "unsafe_call()")
	again.ID, again.Why = id, "The handler calls it as well."
	r := newReviewer(t, g, answering(again))
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{Orders: []verdict.Command{
		{Verb: verdict.Dispute, Finding: id, Reason: "Only tests call it.", ID: 1 << 40, By: loopback.Person, At: time.Now()}}})
	if err != nil || out.Record.Ledger[0].Status != verdict.Open || out.Record.Ledger[0].Disputes != 1 {
		t.Fatalf("the ledger is %+v, %v", out.Record.Ledger, err)
	}
	said := g.Read(loopback.Judge, ref).Threads[0].Comments
	if len(said) != 2 || !strings.HasPrefix(said[1].Body, "Still there in round 2: what was said against it does not hold.\n\n") ||
		!strings.Contains(said[1].Body, "The handler calls it as well.") || strings.Contains(said[1].Body, "**The rule:**") {
		t.Errorf("the thread says %+v", said)
	}
	if body := out.Review.Body; strings.Contains(body, "fixed") {
		t.Errorf("an upheld dispute is called fixed:\n%s", body)
	}
}
