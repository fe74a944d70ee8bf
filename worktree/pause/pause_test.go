package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPauseEndsWithItsTimeOrTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if !For(ctx, time.Second) || time.Since(begun) != time.Second {
			t.Errorf("a pause of a second took %v", time.Since(begun))
		}
		if For(ctx, time.Hour) || time.Since(begun) != time.Minute {
			t.Errorf("the context ended after %v", time.Since(begun))
		}
	})
}
