package main

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"touchstone/relay/internal/examples"
)

// The largest webhooks get through both binaries as they are shipped: one payload is part of its envelope as
// it is, the other is sent as base64, which makes the largest possible frame.
func TestLargestPayloads(t *testing.T) {
	t.Parallel()
	binary := buildRelay(t)
	p := startRelay(t, binary, newStore(t), "")
	const size = 26 << 20
	inline := []byte(`"` + strings.Repeat("x", size-2) + `"`)
	encoded := []byte(`"` + strings.Repeat("y", size-3) + "\"\n")
	tail := exec.CommandContext(t.Context(), binary, "tail", "--url", "http://"+p.address, "--after", "oldest", "--format", "json")
	out, err := tail.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	must(t, tail.Start())
	t.Cleanup(func() {
		_ = tail.Process.Kill()
		_ = tail.Wait() // killed just now
	})
	for i, payload := range [][]byte{inline, encoded} {
		if status, err := deliver(t, p.address, i, examples.Example{Event: "push", Payload: payload}); err != nil ||
			status != http.StatusAccepted {
			t.Fatalf("payload %d was answered %d, %v", i, status, err)
		}
	}
	want := [][]byte{inline, []byte(base64.StdEncoding.EncodeToString(encoded))}
	for i, line := 0, []byte(nil); i < len(want); {
		piece := make([]byte, 1<<20)
		n, err := out.Read(piece)
		if err != nil {
			t.Fatalf("payload %d: %v after %d bytes", i, err, len(line))
		}
		before, after, found := bytes.Cut(piece[:n], []byte("\n"))
		if line = append(line, before...); found {
			if !bytes.Contains(line, want[i]) {
				t.Errorf("payload %d came out changed: %d bytes, %.200s", i, len(line), line)
			}
			i, line = i+1, bytes.Clone(after)
		}
	}
}
