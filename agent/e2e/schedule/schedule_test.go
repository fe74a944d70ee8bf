package schedule_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/e2e/schedule"
)

func TestSchedules(t *testing.T) {
	t.Parallel()
	err := arena.Within(t.Context(), t.TempDir(), func(ctx context.Context, a *arena.Arena) error {
		stage, err := schedule.NewStage(ctx, a, t.TempDir())
		if err != nil {
			return err
		}
		from := uint64(rand.Uint32())
		t.Logf("make sim SEED=%d SEEDS=10", from)
		for seed := from; seed != from+10; seed++ {
			result, err := stage.Run(ctx, seed)
			if err != nil {
				return err
			}
			if len(result.Violations) > 0 || result.Stuck != "" {
				t.Errorf("seed %d: violations %q, stuck: %q\n%s", seed, result.Violations, result.Stuck, strings.Join(result.Steps, "\n"))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
