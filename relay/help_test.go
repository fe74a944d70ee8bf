package main

import (
	"testing"

	"touchstone/worktree/manual"
	"touchstone/worktree/manual/manualtest"
)

func TestHelpFitsATerminal(t *testing.T) { manualtest.Fits(t, rootCommand(), manual.Width) }
