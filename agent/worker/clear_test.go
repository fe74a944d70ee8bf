package worker

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	var said bytes.Buffer
	cfg := config.Default()
	cfg.Worktrees.MaxGB = 1
	a := &Agent{Config: config.NewLive(cfg, nil).Config, Worktrees: &worktree.Store{Root: root}}
	a.Clear(zerolog.New(&said).WithContext(t.Context()))
	if !strings.Contains(said.String(), "raise it") {
		t.Errorf("it said %s", said.String())
	}
}
