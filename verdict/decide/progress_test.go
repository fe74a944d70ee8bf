package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

const stubborn = "0badcafe"

// open is the ledger of a round in which these findings stand.
func open(ids ...string) (l verdict.Ledger) {
	for _, id := range ids {
		l = append(l, verdict.Entry{ID: id, Status: verdict.Open, Severity: verdict.Major})
	}
	return l
}

// looping is a pull request that octocat's agent has fixed some times and whose present
// head is reviewed with findings. Round n, from 1, reviewed head "head n", and fix n
// answers it.
func looping(fixes int, ids ...string) State {
	s := ready()
	s.MaxRounds, s.Opinions, s.Head = 0, nil, fmt.Sprintf("head%d", fixes+1)
	s.Now = noon.Add(24 * time.Hour)
	for n := 1; n <= fixes+1; n++ {
		o := says("alice", fmt.Sprintf("head%d", n), verdict.RequestChanges)
		o.At = noon.Add(time.Duration(n) * time.Hour)
		o.Record.Ledger, o.Record.PatchID, o.Record.Lines = open(ids...), fmt.Sprintf("patch%d", n), 100
		s.Opinions = append(s.Opinions, o)
		if n <= fixes {
			r := verdict.Repair{Reviewed: o.SHA, Findings: ids, Change: fmt.Sprintf("change%d", n), Undoes: fmt.Sprintf("undo%d", n)}
			s.Commits = append(s.Commits, verdict.Commit{SHA: fmt.Sprintf("head%d", n+1), By: "octocat", At: o.At.Add(time.Minute),
				Message: "Apply review\n\n" + r.Trailers()})
		}
	}
	return s
}

// retrailed changes what the fix of a round, from 1, says of itself.
func (s *State) retrailed(n int, change func(*verdict.Repair)) {
	r, _ := verdict.ParseRepair(s.Commits[n-1].Message)
	change(&r)
	s.Commits[n-1].Message = "Apply review\n\n" + r.Trailers()
}

func TestFixesThatBringNothingEnd(t *testing.T) {
	records := func(s *State, each func(n int, r *verdict.Record)) {
		for i := range s.Opinions {
			each(i+1, s.Opinions[i].Record)
		}
	}
	for name, tt := range map[string]struct {
		fixes  int
		change func(*State)
		why    string // a part of the reason; empty where the agent goes on
	}{
		"first review":             {0, func(*State) {}, ""},
		"two fixes":                {2, func(*State) {}, ""},
		"a finding outlives three": {3, func(*State) {}, "finding 0badcafe is still open although 3 fixes have addressed it"},
		"one of them disputed it": {3, func(s *State) {
			s.retrailed(2, func(r *verdict.Repair) { r.Findings, r.Disputed = nil, []string{stubborn + " no"} })
		}, "3 fixes"},
		"one was about another":     {3, func(s *State) { s.retrailed(2, func(r *verdict.Repair) { r.Findings = []string{"00000000"} }) }, ""},
		"a person made one of them": {3, func(s *State) { s.Commits[1].Message = "Mend it" }, ""},
		"it is verified now": {3, func(s *State) {
			s.Opinions[3].Record.Ledger = append(open("b"), verdict.Entry{ID: stubborn, Status: verdict.Verified})
		}, ""},
		"it came back":    {3, func(s *State) { s.Opinions[3].Record.Ledger[0].Status = verdict.Regressed }, "3 fixes"},
		"it is but a nit": {3, func(s *State) { s.Opinions[3].Record.Ledger[0].Severity = verdict.Nit }, ""},
		"a person waived it": {3, func(s *State) {
			last := s.Opinions[3].Record
			s.Orders, last.Ledger = []verdict.Command{{ID: 1, Verb: verdict.Waive, Finding: stubborn}}, append(last.Ledger, open("b")...)
		}, ""},
		"a person resumed": {3, func(s *State) {
			s.Orders = []verdict.Command{{ID: 1, Verb: verdict.Resume, At: noon.Add(150 * time.Minute)}}
		}, ""},
		"a person was called":       {3, func(s *State) { s.EscalatedAt = noon.Add(3 * time.Hour) }, ""},
		"the commits were not read": {3, func(s *State) { s.Commits = nil }, ""},
		"a fix takes back another": {2, func(s *State) { s.retrailed(2, func(r *verdict.Repair) { r.Undoes = "change1" }) },
			"the fix of head2 undid what the fix of head1 had changed"},
		"a fix repeats another": {2, func(s *State) { s.retrailed(2, func(r *verdict.Repair) { r.Change = "change1" }) }, ""},
		"an agent's clock is slow": {3, func(s *State) {
			s.EscalatedAt = noon.Add(30 * time.Minute)
			for i := range s.Commits {
				s.Commits[i].At = noon
			}
		}, "3 fixes"},
		"one took a second go": {3, func(s *State) { s.retrailed(3, func(r *verdict.Repair) { r.Reviewed = "head2" }) }, ""},
		"taken back before resuming": {2, func(s *State) {
			s.retrailed(2, func(r *verdict.Repair) { r.Undoes = "change1" })
			s.EscalatedAt = s.Now
		}, ""},
		"nothing is known of them": {2, func(s *State) {
			s.retrailed(1, func(r *verdict.Repair) { r.Change = "" })
			s.retrailed(2, func(r *verdict.Repair) { r.Undoes = "" })
		}, ""},
		"the change is as it was":  {2, func(s *State) { s.Opinions[2].Record.PatchID = "patch1" }, "the change is the same again as at head1"},
		"only the base was merged": {2, func(s *State) { s.Opinions[2].Record.PatchID = "patch2" }, ""},
		"the change has no name":   {2, func(s *State) { records(s, func(_ int, r *verdict.Record) { r.PatchID = "" }) }, ""},
		"an edited review":         {2, func(s *State) { s.Opinions[2].Record.PatchID, s.Opinions[0].Edited = "patch1", true }, ""},
		"it grows": {3, grows(func(n int, r *verdict.Record) { r.Lines, r.Ledger = 100*n, open(fmt.Sprint(n), "b") }),
			"in 4 rounds the change grew from 100 to 400 lines"},
		"it grows, and fewer stand": {3, grows(func(n int, r *verdict.Record) {
			r.Lines, r.Ledger = 100*n,
				open(fmt.Sprint(n), "b", "c", "d")[n-1:]
		}), ""},
		"it grows and shrinks":      {3, grows(func(n int, r *verdict.Record) { r.Lines, r.Ledger = 100*(n%3+1), open(fmt.Sprint(n)) }), ""},
		"it grows for three rounds": {2, grows(func(n int, r *verdict.Record) { r.Lines, r.Ledger = 100*n, open(fmt.Sprint(n)) }), ""},
		"its size is not known":     {3, grows(func(n int, r *verdict.Record) { r.Lines, r.Ledger = 100*(n-1), open(fmt.Sprint(n)) }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := looping(tt.fixes, stubborn)
			tt.change(&s)
			got := Next(s)
			if stalled := got.Kind == Escalate; stalled != (tt.why != "") || !strings.Contains(got.Reason, tt.why) {
				t.Errorf("got %s because %q", got.Kind, got.Reason)
			}
			if got.Kind != Escalate && got.Kind != Fix {
				t.Errorf("got %s because %q", got.Kind, got.Reason)
			}
		})
	}
}

// grows sets the records of all rounds and has no fix answer the same finding twice.
func grows(each func(n int, r *verdict.Record)) func(*State) {
	return func(s *State) {
		for i := range s.Opinions {
			each(i+1, s.Opinions[i].Record)
		}
		for i := range s.Commits {
			s.retrailed(i+1, func(r *verdict.Repair) { r.Findings = nil })
		}
	}
}

func TestAPersonsPushIsMadeWayFor(t *testing.T) {
	at := noon.Add(23 * time.Hour)
	for name, tt := range map[string]struct {
		change func(*State)
		wait   time.Duration // 0 where the agent goes on
	}{
		"just now":                     {func(*State) {}, 30 * time.Minute},
		"dated in days to come":        {func(s *State) { s.Commits[1].At = noon.Add(100 * time.Hour) }, 0},
		"dated so, and seen to come":   {func(s *State) { s.Commits[1].At, s.SeenAt = noon.Add(100*time.Hour), at }, 30 * time.Minute},
		"long ago":                     {func(s *State) { s.Commits[1].At = at.Add(-time.Hour) }, 0},
		"made long ago, pushed now":    {func(s *State) { s.Commits[1].At, s.SeenAt = noon, at }, 30 * time.Minute},
		"and then the base merged":     {func(s *State) { s.merge("Merge branch 'main' into topic") }, 30 * time.Minute},
		"the base merged now":          {func(s *State) { s.Commits[1].At, s.SeenAt = noon, at; s.merge("Merge branch 'main' into topic") }, 0},
		"and then another merged":      {func(s *State) { s.merge("Merge branch 'feature-2' into topic") }, 90 * time.Minute},
		"the base merged from its own": {func(s *State) { s.merge("Merge remote-tracking branch 'origin/main' into topic") }, 30 * time.Minute},
		"an agent's, amended": {func(s *State) {
			s.Commits[1].Message += "\n\n" + verdict.Repair{Reviewed: "head1"}.Trailers()
			s.Commits[1].Rewritten = true
		}, 30 * time.Minute},
		"an agent's, on other ground": {func(s *State) { s.Commits[1].Message += "\n\n" + verdict.Repair{Reviewed: "0ddba11"}.Trailers() },
			30 * time.Minute},
		"by a bot":              {func(s *State) { s.Commits[1].Bot = true }, 0},
		"by an agent":           {func(s *State) { s.Commits[1].Message += "\n\n" + verdict.Repair{Reviewed: "head1"}.Trailers() }, 0},
		"nothing but the base":  {func(s *State) { s.Commits[1].Message = "Merge branch 'main' into topic\n" }, 0},
		"the first head of all": {func(s *State) { s.Opinions = s.Opinions[1:] }, 0},
		"no pause":              {func(s *State) { s.Pause = 0 }, 0},
		"has the agent go on": {func(s *State) { s.Orders = []verdict.Command{{ID: 1, Verb: verdict.AskFix, At: at.Add(time.Minute)}} },
			0},
		"had it go on before": {func(s *State) { s.Orders = []verdict.Command{{ID: 1, Verb: verdict.AskFix, At: at.Add(-time.Minute)}} },
			30 * time.Minute},
		"not known by whom":         {func(s *State) { s.Commits = nil }, 0},
		"the commits are another's": {func(s *State) { s.Commits = s.Commits[:1] }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := looping(1, stubborn)
			s.Pause = 90 * time.Minute
			s.Commits = append([]verdict.Commit{{SHA: "head1", By: "octocat", At: noon, Message: "Search"}},
				verdict.Commit{SHA: "head2", By: "mona", At: at, Message: "My own idea"})
			tt.change(&s)
			got := Next(s)
			if tt.wait == 0 && got.Kind != Fix || tt.wait > 0 &&
				(got.Kind != Wait || got.Recheck != tt.wait || !strings.Contains(got.Reason, "mona pushed")) {
				t.Errorf("got %s because %q, and again in %s", got.Kind, got.Reason, got.Recheck)
			}
		})
	}
}

// merge puts a commit of its own on top, as the head.
func (s *State) merge(subject string) {
	s.Commits = append(s.Commits, verdict.Commit{SHA: "merged", By: "mona", At: s.Now, Message: subject})
	s.Head, s.Opinions[1].SHA, s.Opinions[1].Record.Head = "merged", "merged", "merged"
}
