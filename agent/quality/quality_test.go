package quality

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/agent/bounded"
	"touchstone/verdict/guard"
	"touchstone/verdict/guard/junit"
)

func TestMain(m *testing.M) {
	bounded.Bootstrap(Task)
	os.Exit(m.Run())
}

func within(t *testing.T, b bounded.Bounds) {
	usual := bounds
	bounds = b
	t.Cleanup(func() { bounds = usual })
}

func edit(name, before, after string) guard.File {
	return guard.File{OldPath: name, Path: name, Before: []byte(before), After: []byte(after)}
}

// TestAChildFindsWhatTheProcessItselfWouldFind sends each part of a change.
func TestAChildFindsWhatTheProcessItselfWouldFind(t *testing.T) {
	report := func(cases string) [][]byte { return [][]byte{[]byte("<testsuite>" + cases + "</testsuite>")} }
	runs, err := junit.Read(report(`<testcase classname="a_test" name="TestX"/><testcase classname="a_test" name="TestY"/>`),
		report(`<testcase classname="a_test" name="TestX"/><testcase classname="a_test" name="TestY"><skipped/></testcase>`))
	if err != nil {
		t.Fatal(err)
	}
	change := guard.Change{
		Files: []guard.File{
			edit(".github/workflows/ci.yml", "on: pull_request\njobs:\n  test:\n    runs-on: x\n    steps:\n      - run: go test ./...\n", ""),
			edit(".golangci.yml", "linters:\n  enable: [errcheck]\n", "linters:\n  disable: [errcheck]\n"),
			{Path: "empty_test.go", OldPath: "empty_test.go"},
			{OldPath: "a_test.go", Before: []byte("package a\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Error() }\n")},
			{Path: "CODEOWNERS", OldPath: "CODEOWNERS", Unread: true},
		},
		Title: "Disable errcheck",
		Runs:  runs,
	}
	want := guard.Examine(change)
	found, err := Examine(t.Context(), change)
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, found, want)
	}
	kinds := map[guard.Kind]bool{}
	for _, f := range want {
		kinds[f.Kind] = true
	}
	if len(kinds) < 4 {
		t.Errorf("kinds %v: this change has too few to compare", kinds)
	}
}

// endless is a change that the guard examines for longer than anybody waits here.
func endless() guard.Change {
	var all strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&all, "t%d: t%d t%d\n\tgo test ./%d\n", i, i+1, i+2, i)
	}
	return guard.Change{Files: []guard.File{edit("Makefile", "test: t0\n"+all.String(), "test: t1\n"+all.String())}}
}

func TestAChangeThatTakesTooMuchIsHeld(t *testing.T) {
	for _, test := range []struct {
		bounds bounded.Bounds
		want   string
	}{
		{bounded.Bounds{Time: time.Millisecond, Memory: 2 << 30}, "Examining the change took longer than 1ms, so the guard knows nothing of it"},
		{bounded.Bounds{Time: 5 * time.Minute, Memory: 64 << 20}, "Examining the change "},
	} {
		within(t, test.bounds)
		found, err := Examine(t.Context(), endless())
		if err != nil || len(found) != 1 || found[0].Tier != guard.Hold || found[0].Kind != guard.Unexamined ||
			!strings.HasPrefix(found[0].Why, test.want) {
			t.Errorf("%v, %+v; want a hold: %s", err, found, test.want)
		}
	}
}

func TestAContextThatEndsIsNoHold(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if found, err := Examine(ctx, endless()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %+v", err, found)
	}
}
