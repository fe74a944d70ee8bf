package steps_test

import (
	"errors"
	"testing"

	"touchstone/worktree/steps"
)

func TestTheFirstFailedStepEndsTheRow(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for name, tc := range map[string]struct {
		step func()
		want string
	}{
		"none":           {func() {}, ""},
		"an error":       {func() { steps.Must(wrong) }, "wrong"},
		"a sentence":     {func() { steps.Fail("number %d: %w", 2, wrong) }, "number 2: wrong"},
		"a lost value":   {func() { _ = steps.Got(1, wrong) }, "wrong"},
		"a row in a row": {func() { steps.Must(steps.Try(func() { steps.Must(wrong) })) }, "wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			last := false
			err := steps.Try(func() {
				steps.Must(nil)
				tc.step()
				last = true
			})
			if said := ""; err != nil {
				if said = err.Error(); said != tc.want || last || !errors.Is(err, wrong) {
					t.Errorf("it ended with %v, want %q; the last step ran: %v", err, tc.want, last)
				}
			} else if tc.want != "" || !last {
				t.Errorf("it did not end, want %q", tc.want)
			}
		})
	}
}

func TestOtherPanicsGoOn(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() != "a defect" {
			t.Error("a defect in a step was taken for a step that failed")
		}
	}()
	_ = steps.Try(func() { panic("a defect") })
}

// What fails while a row is cleaned up hides neither the step that ended it nor a defect.
func TestALastStepHidesNothing(t *testing.T) {
	t.Parallel()
	wrong, late := errors.New("wrong"), errors.New("late")
	for name, tc := range map[string]struct {
		step, last error
		want       string
	}{
		"all is well":        {nil, nil, ""},
		"a step":             {wrong, nil, "wrong"},
		"the last one":       {nil, late, "late"},
		"a step and the end": {wrong, late, "wrong\nlate"},
	} {
		err := steps.Try(func() {
			defer steps.Finally(func() error { return tc.last })
			steps.Must(tc.step)
		})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != tc.want {
			t.Errorf("%s: it ended with %q, want %q", name, said, tc.want)
		}
	}
	defer func() {
		if found := recover(); found != "a defect" {
			t.Errorf("the defect became %v", found)
		}
	}()
	_ = steps.Try(func() {
		defer steps.Finally(func() error { return late })
		panic("a defect")
	})
}
