package await

import (
	"context"
	"errors"
	"testing"
)

func TestConditionLooksUntilItHolds(t *testing.T) {
	t.Parallel()
	looks := 0
	err := Condition(t.Context(), func() (bool, error) { looks++; return looks == 3, nil })
	if err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
	Until(t, "the fourth look", func() bool { looks++; return looks == 4 })
}

func TestConditionEndsWithAnErrorOrTheContext(t *testing.T) {
	t.Parallel()
	broken := errors.New("it cannot be told")
	if err := Condition(t.Context(), func() (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the condition's error became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Condition(ctx, func() (bool, error) { return false, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the context's end became %v", err)
	}
}
