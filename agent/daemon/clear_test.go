package daemon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/worktree"
)

func TestWorktreesBeyondTheirLimitAreReported(t *testing.T) {
	root := t.TempDir()
	large := filepath.Join(root, "sparse")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 2<<30); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		ctx, cancel := context.WithCancel(zerolog.New(&said).WithContext(t.Context()))
		cfg := config.Default()
		cfg.Worktrees.MaxGB = 1
		d := &Daemon{Agent: &Agent{Config: config.NewLive(cfg, nil).Config, Worktrees: &worktree.Store{Root: root}}}
		done := make(chan struct{})
		go func() { defer close(done); d.clear(ctx) }()
		time.Sleep(clearing + time.Minute)
		synctest.Wait()
		cancel()
		<-done
		if !strings.Contains(said.String(), "raise it") {
			t.Errorf("it said %s", said.String())
		}
	})
}
