package main

import (
	"strings"
	"testing"
)

func TestTheTableShowsEachEngineAndCase(t *testing.T) {
	t.Parallel()
	var tab table
	var out strings.Builder
	if tab.complete() {
		t.Error("a suite in which nothing ran is complete")
	}
	for _, e := range []event{
		{Action: "run", Test: "TestRealConformance"},
		{Action: "run", Test: "TestRealConformance/claude"},
		{Action: "run", Test: "TestRealConformance/claude/answer"},
		{Action: "run", Test: "TestRealConformance/codex"},
		{Action: "pass", Test: "TestRealConformance/codex/answer"},
		{Action: "pass", Test: "TestRealConformance/claude/answer", Elapsed: 1},
	} {
		tab.add(e, &out)
	}
	for _, e := range []event{
		{Action: "pass", Test: "TestRealConformance/claude/effort"},
		{Action: "output", Test: "TestRealConformance/codex/effort", Output: "    x_test.go:1: NOT MET: it has no levels\n"},
		{Action: "skip", Test: "TestRealConformance/codex/effort"},
	} {
		tab.add(e, &out)
	}
	if !tab.complete() {
		t.Error("two engines that pass, but for what one is known not to meet, are not complete")
	}
	for _, e := range []event{
		{Action: "pass", Test: "TestRealConformance/claude/hang_in_mid-stream"},
		{Action: "output", Test: "TestRealConformance/codex/hang_in_mid-stream", Output: "it hangs on\n"},
		{Action: "fail", Test: "TestRealConformance/codex/hang_in_mid-stream"},
		{Action: "pass", Test: "TestRealConformance/claude/third"},
		{Action: "build-output", Output: "it does not build\n"},
		{Action: "fail", Test: "TestRealConformance/codex"},
	} {
		tab.add(e, &out)
	}
	tab.print(&out)
	if tab.complete() {
		t.Error("complete in spite of a failure and of a case that did not run")
	}
	for _, want := range []string{
		"it hangs on\n", "it does not build\n", "case                claude  codex\n", "hang in mid-stream  ok      FAILED\n",
		"third               ok      not run\n",
		"0.0 s  it has no levels\n", "effort              ok      not met\n", "\nengines: claude 4/4, codex 1/4\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}
