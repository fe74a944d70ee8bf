package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

// first is the first unmet of some conditions.
func first(all []Condition) Condition {
	i := slices.IndexFunc(all, func(c Condition) bool { return c.State == Unmet })
	return all[i]
}

func TestNextActsOnTheFirstUnmetCondition(t *testing.T) {
	t.Parallel()
	d := throw(t)
	unmet := map[string]int{}
	for range fewer() {
		s := d.state()
		a, all := Next(s), Conditions(s)
		c := first(all)
		if c.Name != a.Condition || c.Turn != a.Turn {
			t.Fatalf("%s of %s (%s) is about %q, and the first unmet condition is %+v\nstate: %+v", a.Kind, a.Turn, a.Reason, a.Condition, c, s)
		}
		unmet[c.Name]++
		names := map[string]bool{}
		for _, c := range all {
			if names[c.Name] {
				t.Fatalf("%q is there twice", c.Name)
			}
			names[c.Name] = true
			if c.State == Unmet && (c.Reason == "" || c.Turn == "") || c.State == Met && (c.Reason == "" || c.Turn != "") ||
				c.State == NotApplicable && c.Reason+string(c.Turn) != "" {
				t.Fatalf("%+v says too little or too much", c)
			}
		}
		if last := all[len(all)-1]; last.Name != Merged || last.State != Unmet {
			t.Fatalf("the last condition is %+v", last)
		}
		if a.Kind == Merge && c.Name != Merged && a.Reason != "it is approved and green, and the merge queue may accept it by now" {
			t.Fatalf("it is merged although %q is unmet: %s", c.Name, c.Reason)
		}
	}
	for _, name := range []string{"open", "own", "asked", "ready", "not stopped", "no person called", "reviewed", "approved", "no objection",
		"checks", "mergeable", "automatic", "nits applied", Merged, "reviewable", "read whole", "not in the queue"} {
		if unmet[name] == 0 {
			t.Errorf("no state had %q as its first unmet condition", name)
		}
	}
}

func TestConditionsSayWhatIsMissing(t *testing.T) {
	objects := func(s *State) { s.Opinions = []Opinion{says("alice", head, verdict.RequestChanges)} }
	for _, tt := range []struct {
		name   string
		change func(*State)
		want   []string // name, turn and a part of the reason of each that is unmet, but for the last
	}{
		{"nothing", func(*State) {}, nil},
		{"a draft", func(s *State) { s.Draft = true }, []string{"ready author: it is a draft"}},
		{"a person", func(s *State) { s.NeedsHuman = true }, []string{"no person called person: it waits for a person"}},
		{"a review", func(s *State) { s.Opinions = nil }, []string{"reviewed reviewer: no review that counts approved 4f1c0de"}},
		{"a review for this base", func(s *State) { s.Opinions[0].Rebased = true },
			[]string{"reviewed reviewer: main was force-pushed since alice approved"}},
		{"a review for this branch", func(s *State) { s.BaseBranch = "release" },
			[]string{"reviewed reviewer: alice approved it for main, but it is now to be merged into release"}},
		{"a review of what it makes now", func(s *State) { s.Opinions[0].Outdated = true },
			[]string{"reviewed reviewer: merging this head would now change something else"}},
		{"a review that can be believed", func(s *State) { s.Opinions[0].Doubt, s.Opinions[0].Record = "its record was taken out", nil },
			[]string{"reviewed person: the review of this head by alice is ignored: its record was taken out"}},
		{"changes, green checks and its base", func(s *State) { objects(s); s.Checks, s.Mergeable = ChecksPending, MergeableBehind }, []string{
			"approved author: the review of 4f1c0de by alice requests changes, round 0: 1 major", "checks ci: checks are running",
			"up to date author: it must contain the tip of main",
		}},
		{"a person's approval", func(s *State) {
			objects(s)
			s.Opinions[0].Record.Ledger, s.Opinions[0].Record.Holds = nil, []verdict.Hold{{Kind: verdict.QualityBar}, {Kind: verdict.QualityBar}}
		}, []string{"let pass person: is held: a person has to approve it in a review: the quality bar is lowered"}},
		{"its author's merge", func(s *State) { s.Manual = byHandOnly },
			[]string{"automatic author: its author has to merge it: merge.auto is off"}},
		{"a person's word", func(s *State) {
			s.Opinions = append(s.Opinions, Opinion{By: "mona", SHA: head, State: "CHANGES_REQUESTED", CanPush: true, At: noon})
		}, []string{"no objection person: mona requests changes since 2026-03-01 12:00:00 UTC"}},
		{"the rules of its base", func(s *State) { s.Mergeable, s.Conversations = MergeableBlocked, 1 },
			[]string{"let in person: the rules of main block the merge: a required check or review is missing, or the rules require " +
				"resolved conversations, of which 1 are open"}},
		{"a check that its base requires", func(s *State) { s.Mergeable, s.Absent = MergeableBlocked, []string{"test"} },
			[]string{`let in person: the rules of main block the merge: the check "test" has not begun, which the rules of main require`}},
		{"too many rounds", func(s *State) { s.Opinions = append(rounds(2), says("alice", head, verdict.RequestChanges)) },
			[]string{"approved person: 3 rounds have not been enough"}},
		{"a check from the base's CI", func(s *State) { s.Checks, s.Unknown = ChecksNone, "cla" },
			[]string{`checks ci: the check "cla" passed on it, but nothing on main came from`}},
		{"more than was read", func(s *State) { s.Unread = "it has more than 1,000 comments" },
			[]string{"read whole person: it has more than 1,000 comments"}},
		{"the way out of the queue", func(s *State) { s.InQueue, s.Enqueued, s.HoldLabel = true, true, "stay" }, []string{
			"not in the queue author: must not be merged any more: the label stay holds it", "not held person: the label stay holds it",
			"not queued ci: it is in the merge queue",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ready()
			s.Now = noon.Add(time.Minute)
			tt.change(&s)
			var got []string
			for _, c := range Conditions(s) {
				if c.State == Unmet && c.Name != Merged {
					got = append(got, c.Name+" "+string(c.Turn)+" "+c.Reason)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("unmet:\n%s\nwant:\n%v", strings.Join(got, "\n"), tt.want)
			}
			for i, want := range tt.want {
				if start, part, _ := strings.Cut(want, ": "); !strings.HasPrefix(got[i], start) || !strings.Contains(got[i], part) {
					t.Errorf("unmet:\n%s\nwant:\n%s", got[i], want)
				}
			}
		})
	}
}
