package decide

import (
	"testing"
	"time"

	"touchstone/verdict"
)

func TestAMergeQueueIsLeftAndWaitedFor(t *testing.T) {
	enqueued := func(then func(*State)) func(*State) {
		return func(s *State) { s.Queue, s.InQueue, s.Enqueued = true, true, true; then(s) }
	}
	refused := func(wait time.Duration, now time.Time) func(*State) {
		return func(s *State) {
			s.Queue, s.Mergeable, s.Failed, s.Attempts, s.RetryIn, s.Now = true, MergeableBlocked, Merge, 9, wait, now
		}
	}
	runNext(t, ready, []nextCase{
		{"in the merge queue by the agent", enqueued(func(*State) {}), Wait, "queue"},
		{"stopped while in the queue", enqueued(func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Stop, "mona", 1)} }), Dequeue,
			"mona has stopped"},
		{"a person is called while in the queue", enqueued(func(s *State) { s.NeedsHuman = true }), Dequeue, "waits for a person"},
		{"held while in the queue", enqueued(func(s *State) { s.HoldLabel = "stay" }), Dequeue, "the label stay holds it"},
		{"left to its author while in the queue",
			enqueued(func(s *State) { s.Manual, s.Notices = byHandOnly, []Notice{{Topic: "auto", SHA: older}} }), Dequeue, "merge.auto is off"},
		{"objected to while in the queue", enqueued(func(s *State) {
			s.Opinions = append(s.Opinions, Opinion{By: "mona", SHA: head, State: "CHANGES_REQUESTED", At: noon, CanPush: true})
		}), Dequeue, "mona still requests changes"},
		{"its approval is edited in the queue", enqueued(func(s *State) { s.Opinions[0].Edited = true }), Dequeue, "edited"},
		{"taking it out of the queue failed", enqueued(func(s *State) { s.HoldLabel, s.Failed, s.RetryIn = "stay", Dequeue, time.Minute }), Wait,
			"next one is delayed"},
		{"stopped in the queue by hand", func(s *State) { s.InQueue, s.HoldLabel = true, "stay" }, Wait, "the label stay holds it"},
		{"in the merge queue for a day", enqueued(func(s *State) { s.EnqueuedAt, s.Now = noon, noon.Add(queuePatience) }), Escalate,
			"in the merge queue for a day"},
		{"and again since people had it go on", enqueued(func(s *State) {
			s.EnqueuedAt, s.Now, s.Orders = noon, noon.Add(queuePatience),
				[]verdict.Command{{ID: 1, Verb: verdict.Resume, By: "mona", At: noon.Add(time.Hour)}}
		}), Wait, "queue"},
		{"in the merge queue by hand for a day", func(s *State) { s.InQueue, s.EnqueuedAt, s.Now = true, noon, noon.Add(queuePatience) },
			Escalate, "for a day"},
		{"blocked before a queue", func(s *State) { s.Queue, s.Mergeable = true, MergeableBlocked }, Merge, "approved and green"},
		{"refused by the queue", refused(time.Minute, noon), Wait, "is missing"},
		{"asked again after many refusals", refused(0, noon), Merge, "may accept it by now"},
		{"refused by the queue for hours", refused(0, noon.Add(rulePatience)), Escalate, "rules block the merge"},
	})
	s := ready()
	refused(time.Minute, noon)(&s)
	if a := Next(s); a.Recheck != time.Minute {
		t.Errorf("the queue is asked again after %s", a.Recheck)
	}
}
