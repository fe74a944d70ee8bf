package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"touchstone/agent/engine"
)

func TestBoundedFillsInDefaults(t *testing.T) {
	t.Parallel()
	req, err := engine.Request{Role: engine.Author, Dir: ".", IdleTimeout: time.Second}.Bounded()
	if err != nil {
		t.Fatal(err)
	}
	if req.Timeout != engine.DefaultTimeout || req.IdleTimeout != time.Second {
		t.Errorf("timeout = %s, idle = %s", req.Timeout, req.IdleTimeout)
	}
	for _, req := range []engine.Request{{Timeout: -time.Second}, {IdleTimeout: -1}, {Budget: -0.01}, {MaxTurns: -1}} {
		req.Role, req.Dir = engine.Author, "."
		if _, err := req.Bounded(); err == nil {
			t.Errorf("a negative bound was accepted: %+v", req)
		}
	}
}

// TestBoundedDirectoriesAreAbsolute, and those of the caller stay as they are: a CLI works elsewhere than this process.
func TestBoundedDirectoriesAreAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{"notes", "/"}
	req, err := engine.Request{Role: engine.Reviewer, Dir: ".", ReadDirs: dirs}.Bounded()
	if err != nil || req.Dir != here || req.ReadDirs[0] != filepath.Join(here, "notes") || !filepath.IsAbs(req.ReadDirs[1]) {
		t.Errorf("works in %q and reads %q, %v", req.Dir, req.ReadDirs, err)
	}
	if dirs[0] != "notes" {
		t.Errorf("the caller's directories are %q", dirs)
	}
}

func TestErrorShowsItsCause(t *testing.T) {
	t.Parallel()
	err := error(&engine.Error{Class: engine.Cancelled, Message: "the session was cancelled", Err: context.Canceled})
	if !errors.Is(err, context.Canceled) || err.Error() != "the session was cancelled" {
		t.Errorf("error = %v", err)
	}
}
