package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

// TestWordsHoldForTheHeadAndBaseThatTheyWereGivenFor: a person who points a pull request at another
// base, rewrites that, or brings another head into its place takes no word of a person along.
func TestWordsHoldForTheHeadAndBaseThatTheyWereGivenFor(t *testing.T) {
	opinions := func(all ...Opinion) func(*State) { return func(s *State) { s.Opinions = all } }
	also := func(changes ...func(*State)) func(*State) {
		return func(s *State) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	called := func(s *State) { s.NeedsHuman, s.CalledAt, s.EscalatedAt, s.LabelledAt = true, noon, noon, noon }
	orders := func(all ...verdict.Command) func(*State) { return func(s *State) { s.Orders = all } }
	replaced := func(after time.Duration) func(*State) { return func(s *State) { s.BaseReplaced = noon.Add(after) } }
	forced := func(sha string, after time.Duration) func(*State) {
		return func(s *State) { s.Forced = Replacement{At: noon.Add(after), SHA: sha} }
	}
	unsafe := opinions(found(entry("1", verdict.Critical)))
	glass := orders(ordered(verdict.BreakGlass, "mona", time.Hour))
	approves := by("mona", head, "APPROVED")
	waived := found(verdict.Entry{ID: "0badcafe", Status: verdict.Waived, Severity: verdict.Major,
		Said: &verdict.Said{By: "mona", At: noon.Add(time.Hour)}})
	waived.State, waived.Record.Verdict = "APPROVED", verdict.Approve
	runNext(t, asks, []nextCase{
		{"break-glass", also(unsafe, glass), Lift, ""},
		{"break-glass, and then another base", also(unsafe, glass, replaced(2*time.Hour)), Wait, "is reviewed"},
		{"break-glass in the second in which the base is replaced", also(unsafe, glass, replaced(time.Hour)),
			Wait, "is reviewed"},
		{"break-glass for the base that came before", also(unsafe, glass, replaced(30*time.Minute)), Lift, ""},
		{"break-glass unreviewed, and then another base", also(called, glass, replaced(2*time.Hour)), Wait, "waits for a person"},
		{"break-glass, and then a push by force to another head and back",
			also(unsafe, glass, forced(head, 2*time.Hour)), Wait, "is reviewed"},
		{"break-glass for another head, to which an ordinary push led back",
			also(unsafe, glass, forced(older, time.Minute)), Wait, "is reviewed"},
		{"break-glass for a head that an ordinary push led to, as an agent found",
			also(unsafe, glass, forced(older, -time.Minute)), Lift, ""},
		{"break-glass for a head that was pushed by force", also(unsafe, glass, forced(head, -time.Minute)),
			Lift, ""},
		{"break-glass before the review was there", also(unsafe,
			orders(ordered(verdict.BreakGlass, "mona", -time.Minute))), Wait, "is reviewed"},
		{"an approval, and then another base", also(opinions(heldBy(), approves), called, replaced(2*time.Minute)), Wait, "waits for a person"},
		{"an approval for the base that came before", also(opinions(heldBy(), approves), called, replaced(time.Second)), Lift, ""},
		{"a waiver, and then another base", also(opinions(found(entry("0badcafe", verdict.Major))),
			orders(ordered(verdict.Waive, "mona", time.Hour)), replaced(2*time.Hour)), Wait, "is reviewed"},
		{"approved on a waiver, and then another base", also(opinions(waived), replaced(2*time.Hour)), Review, "waived for another base"},
		{"a dispute, and then another base", also(opinions(found(entry("0badcafe", verdict.Major))),
			orders(ordered(verdict.Dispute, "octocat", time.Hour)), replaced(2*time.Hour)), Wait, "is reviewed"},
		{"the order to go on", also(called, orders(ordered(verdict.Resume, "mona", time.Hour))), Release, ""},
		{"the order to go on, and then another base", also(called, orders(ordered(verdict.Resume, "mona", time.Hour)), replaced(2*time.Hour)),
			Wait, "waits for a person"},
	})
	word, broken := verdict.Word{By: "mona", At: approves.At}, verdict.Word{By: "mona", At: noon.Add(time.Hour), BrokeGlass: true}
	runNext(t, ready, []nextCase{
		{"approved on a word", opinions(heldBy(), approves, lifted(word)), Merge, ""},
		{"approved on a word, and then another base", also(opinions(heldBy(), approves, lifted(word)), replaced(2*time.Minute)), Wait,
			"only a person"},
		{"approved on a word from before the review", opinions(approves, heldBy(), lifted(word)), Wait, "only a person"},
		{"approved by break-glass", also(opinions(lifted(broken)), glass), Merge, ""},
		{"approved by break-glass, and then another base", also(opinions(lifted(broken)), glass, replaced(2*time.Hour)), Wait, "only a person"},
		{"approved on a waiver, and then another base", also(opinions(waived), replaced(2*time.Hour)), Wait, "about to judge it again"},
	})
}

// TestWordsThatDoNotCountAreNamed, each with the reason.
func TestWordsThatDoNotCountAreNamed(t *testing.T) {
	s := ready()
	wrote, before := by("hubot", head, "APPROVED"), by("mona", head, "APPROVED")
	wrote.Independent, before.At = false, noon.Add(-time.Minute)
	s.Opinions = []Opinion{before, heldBy(entry("0badcafe", verdict.Minor)), wrote, by("root", head, "APPROVED")}
	s.Orders = []verdict.Command{ordered(verdict.Waive, "mona", -time.Minute)}
	var got []string
	for _, u := range s.Ignored() {
		got = append(got, u.By+" "+u.What+": "+u.Why)
	}
	want := []string{
		"mona approval: it was given before the review that holds the change for a person",
		"mona waive: it was given before the latest review of this head, which did not accept it: give it again",
		"hubot approval: hubot wrote or pushed a part of what it approves",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	s.BaseReplaced = noon.Add(2 * time.Hour)
	for _, u := range s.Ignored() {
		if u.By != "hubot" && u.Why != "it was given before the base was replaced" {
			t.Errorf("with another base: %+v", u)
		}
	}
	s.Opinions = []Opinion{says("alice", head, verdict.Approve), by("mona", head, "APPROVED")}
	if got := s.Ignored(); len(got) > 0 {
		t.Errorf("where nothing waits for a word: %+v", got)
	}
}
