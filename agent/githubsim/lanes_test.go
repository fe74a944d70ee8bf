package githubsim

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestLanesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var l lanes
		var slow, fast []int
		var fastDone time.Duration
		begin := time.Now()
		l.do("slow", func(context.Context) { // before run: it waits
			time.Sleep(time.Second)
			slow = append(slow, 1)
			l.do("slow", func(context.Context) { slow = append(slow, 3) })
		})
		l.do("slow", func(context.Context) { slow = append(slow, 2) })
		l.do("fast", func(context.Context) { fast, fastDone = append(fast, 1), time.Since(begin) })
		ended := make(chan struct{})
		go func() {
			l.run(ctx)
			close(ended)
		}()
		if err := l.settle(ctx); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slow, []int{1, 2, 3}) || !slices.Equal(fast, []int{1}) || fastDone != 0 {
			t.Fatalf("slow %v, fast %v after %s", slow, fast, fastDone)
		}
		l.do("slow", func(ctx context.Context) { <-ctx.Done(); slow = append(slow, 4) })
		synctest.Wait()
		stop()
		<-ended
		if len(slow) != 4 {
			t.Fatal("run has not waited for the work under way")
		}
		l.do("slow", func(context.Context) { t.Error("work after the end") })
		synctest.Wait()
	})
}
