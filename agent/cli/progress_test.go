package cli

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/verdict"
)

func TestProgressIsForTerminals(t *testing.T) {
	var out bytes.Buffer
	if Progress(&out) != nil {
		t.Error("a pipe is told how far it is")
	}
	if Steps(&out)("reading the change"); out.Len() > 0 {
		t.Errorf("a pipe is told %q", &out)
	}
	say := narrate(&out)
	for _, p := range []engine.Progress{
		{Kind: engine.ProgressDimension, Text: "Graph", Elapsed: 1200 * time.Millisecond},
		{Kind: engine.ProgressDimension, Text: "AI-Antipattern", Elapsed: 70 * time.Second},
		{Kind: engine.ProgressText, Text: "prose"},
		{Kind: engine.ProgressTool, Text: "Read a.go", Elapsed: 71 * time.Second, Used: verdict.Usage{Input: 900, Output: 100}},
		{Kind: engine.ProgressHeartbeat, Silence: 30 * time.Second, Elapsed: 100 * time.Second},
		{Kind: engine.ProgressRetry, Text: "overloaded\x1b[2J", Elapsed: 101 * time.Second},
	} {
		say(p)
	}
	want := fmt.Sprintf("%7s  1/9 Graph\n%7s  8/9 AI-Antipattern\n%7s  Read a.go, 1000 tokens\n%7s  the model is thinking, 30s since its "+
		"last output\n%7s  the provider refused; the request is repeated: overloaded\uFFFD[2J\n", "1s", "1m10s", "1m11s", "1m40s", "1m41s")
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
