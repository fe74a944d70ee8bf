package main

import (
	"strings"
	"testing"

	"touchstone/agent/e2e/schedule"
)

func TestRunEndsWithTheCount(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := sim{out: &out, ends: map[string]int{}}
	if err := s.run(t.Context(), 7, 2); err != nil || !strings.HasSuffix(out.String(), "\nsim: 2 schedules, 0 violations, 0 stuck\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestWhatWentWrongIsTold(t *testing.T) {
	var out strings.Builder
	s := sim{out: &out, ends: map[string]int{}}
	s.tell(schedule.Result{Seed: 3, Steps: []string{"reviewer"}, End: "merged"})
	s.tell(schedule.Result{Seed: 4, Steps: []string{"author"}, Violations: []string{"it was merged"}})
	s.tell(schedule.Result{Seed: 5, Stuck: "nobody looks"})
	if want := "seed 4: it was merged\n  author\nseed 5: stuck: nobody looks\n  \n"; out.String() != want || s.violations != 1 ||
		s.stuck != 1 {
		t.Errorf("told %q, counted %d and %d", &out, s.violations, s.stuck)
	}
}
