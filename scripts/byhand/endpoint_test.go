package byhand

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ask sends a request whose answer is written beforehand, and returns the stream.
func ask(t *testing.T, e *Endpoint, place, answer, body string) string {
	t.Helper()
	if answer != "" {
		dir := filepath.Join(e.Dir, place)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "answer.txt"), []byte(answer), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(e)
	defer server.Close()
	response, err := http.Post(server.URL+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	out, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestAnswersByFiles(t *testing.T) {
	e := &Endpoint{Dir: t.TempDir()}
	const prompt = `{"model":"m","stream":true,"system":[{"type":"text","text":"the ` +
		`law"}],"tools":[{}],"messages":[{"role":"user","content":"look <!-- RUN:ABC123 -->"}]}`
	out := ask(t, e, "01", "I look.\nTOOL Read {\"file_path\": \"/a\"}\nTOOL nonsense\n", prompt)
	for _, want := range []string{`"name":"Read"`, `"partial_json":"{\"file_path\": \"/a\"}"`, `"stop_reason":"tool_use"`, "I look.",
		"TOOL nonsense", "message_stop"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	const later = `{"stream":true,"tools":[{}],"messages":[{"role":"user","content":"look <!-- RUN:ABC123 ` +
		`-->"},{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"package a"}]}]}]}`
	out = ask(t, e, "02", "done\n{{RUN}}", later)
	if !strings.Contains(out, "RUN:ABC123") || !strings.Contains(out, `"stop_reason":"end_turn"`) {
		t.Errorf("answered\n%s", out)
	}
	told, err := os.ReadFile(filepath.Join(e.Dir, "02", "request.txt"))
	if err != nil || !strings.Contains(string(told), "RESULT:\npackage a") {
		t.Errorf("%v\n%s", err, told)
	}
	if first, err := os.ReadFile(filepath.Join(e.Dir, "01", "request.txt")); err != nil ||
		!strings.Contains(string(first), "SYSTEM:\nthe law\n\nUSER:\nlook") {
		t.Errorf("%v\n%s", err, first)
	}
	// The CLI asks once more, and not for a stream, where an answer was long in coming.
	out = ask(t, e, "", "", strings.Replace(prompt, `"stream":true`, `"stream":false`, 1))
	if !strings.Contains(out, `"name":"Read"`) || !strings.Contains(out, `"file_path": "/a"`) && !strings.Contains(out, `"file_path":"/a"`) ||
		strings.Contains(out, "event:") {
		t.Errorf("the same request is answered\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(e.Dir, "03")); err == nil {
		t.Error("the same request has a directory of its own")
	}
	if e.Tools() != 2 {
		t.Errorf("%d calls of tools", e.Tools())
	}
	if out := ask(t, e, "", "", `{"messages":[{"role":"user","content":"a title?"}]}`); !strings.Contains(out, `"text":"ok"`) {
		t.Errorf("a request without tools is answered\n%s", out)
	}
	if out := ask(t, e, "", "", `not json`); strings.Contains(out, "message_start") {
		t.Errorf("nonsense is answered\n%s", out)
	}
}
