package reviewer_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
	"touchstone/worktree"
)

// together posts a review only when others are about to post theirs, too.
type together struct {
	*forge.Poster
	others *sync.WaitGroup
}

func (p together) PostReview(ctx context.Context, ref forge.Ref, r forge.Review) (forge.Posted, error) {
	p.others.Done()
	p.others.Wait()
	return p.Poster.PostReview(ctx, ref, r)
}

// TestTwoMachinesOfOneLogin post in the same second, each after it saw no review of the
// other's. One of the two reviews is left: the one that requests changes, if one does.
func TestTwoMachinesOfOneLogin(t *testing.T) {
	t.Parallel()
	nothing, unsafe := answering(), answering(finding(1))
	for name, test := range map[string]struct {
		models [2]func(loopback.Asked) (string, error)
		want   string
	}{
		"of one mind":                 {[2]func(loopback.Asked) (string, error){nothing, nothing}, forge.Approved},
		"of one mind against it":      {[2]func(loopback.Asked) (string, error){unsafe, unsafe}, forge.ChangesRequested},
		"of two minds":                {[2]func(loopback.Asked) (string, error){nothing, unsafe}, forge.ChangesRequested},
		"of two minds, the other way": {[2]func(loopback.Asked) (string, error){unsafe, nothing}, forge.ChangesRequested},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
			pr := g.Read(loopback.Judge, ref)
			var meeting, ended sync.WaitGroup
			meeting.Add(len(test.models))
			var stood [2]bool
			for i, model := range test.models {
				r := newReviewer(t, g, model)
				r.Worktrees = &worktree.Store{Root: t.TempDir()}
				r.Post = together{forge.NewPoster(g.Client(loopback.Judge)), &meeting}
				ended.Go(func() {
					_, err := r.Review(t.Context(), pr, reviewer.Options{})
					if stood[i] = err == nil; err != nil && !errors.Is(err, reviewer.ErrOvertaken) {
						t.Error(err)
					}
				})
			}
			ended.Wait()
			now := g.Read(loopback.Judge, ref)
			var standing []string
			for _, review := range now.Reviews {
				if review.State != forge.Dismissed {
					standing = append(standing, review.State)
				}
			}
			if len(now.Reviews) != 2 || len(standing) != 1 || standing[0] != test.want {
				t.Errorf("of %d reviews these stand: %q; want one %s", len(now.Reviews), standing, test.want)
			}
			if !stood[0] && !stood[1] {
				t.Error("both machines gave way")
			}
			if v, _, ok := reviewer.Standing(now); !ok || (v == verdict.Approve) != (test.want == forge.Approved) {
				t.Errorf("the standing verdict is %s, %v", v, ok)
			}
		})
	}
}
