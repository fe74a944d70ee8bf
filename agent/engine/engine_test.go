package engine_test

import (
	"context"
	"errors"
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

func TestErrorShowsItsCause(t *testing.T) {
	t.Parallel()
	err := error(&engine.Error{Class: engine.Cancelled, Message: "the session was cancelled", Err: context.Canceled})
	if !errors.Is(err, context.Canceled) || err.Error() != "the session was cancelled" {
		t.Errorf("error = %v", err)
	}
}
