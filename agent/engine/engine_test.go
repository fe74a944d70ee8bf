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
	if _, err := (engine.Request{Role: engine.Author, Dir: ".", Timeout: -time.Second}).Bounded(); err == nil {
		t.Error("a negative timeout was accepted")
	}
}

func TestErrorShowsItsCause(t *testing.T) {
	t.Parallel()
	err := error(&engine.Error{Class: engine.Cancelled, Message: "the session was cancelled", Err: context.Canceled})
	if !errors.Is(err, context.Canceled) || err.Error() != "the session was cancelled" {
		t.Errorf("error = %v", err)
	}
}
