package dashboard_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/relay/dashboard/chromium"
)

// validator is the W3C's checker of HTML, which is maintained at https://github.com/validator/validator.
const validator = "../../.tools/node_modules/vnu-jar/build/dist/vnu.jar"

// get requests a path as a program with the relay's token, and returns the answer.
func (r *relay) get(path string, want int) string {
	r.t.Helper()
	return r.ask(http.MethodGet, path, want)
}

func (r *relay) ask(method, path string, want int) string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.address+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		r.t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
	return string(text)
}

// Every page is valid HTML: when it is empty, with usual content, and with hostile texts in every field.
func TestPagesAreValidHTML(t *testing.T) {
	t.Parallel()
	java, err := exec.LookPath("java")
	if err != nil {
		chromium.Missing(t, "Java (as on Debian: apt install default-jre-headless)")
	}
	if _, err := os.Stat(validator); err != nil {
		chromium.Missing(t, "vnu-jar (make tools)")
	}
	usual := startRelay(t)
	firing(usual)
	dir, names := t.TempDir(), map[string]string{}
	write := func(kind string, r *relay, views ...string) {
		for i, view := range views {
			file := filepath.Join(dir, fmt.Sprintf("%s-%d.html", kind, i))
			status := http.StatusOK
			if view == "/pulls/none/none/1" {
				status = http.StatusNotFound
			}
			if err := os.WriteFile(file, []byte(r.get(view, status)), 0o600); err != nil {
				t.Fatal(err)
			}
			names["file:"+file] = kind + " " + view
		}
	}
	empty, strange, guarded := startRelay(t), hostileRelay(t), manage(t)
	write("empty", empty, empty.views(0)...)
	write("usual", usual, usual.views(12)...)
	write("hostile", strange, strange.views(len(hostile))...)
	write("guarded", guarded.relay, guarded.views(1)...)
	write("sign-in", &relay{t: t, address: guarded.address}, "/sign-in", "/sign-in?to=%2Fhealth", "/sign-in?code=one")
	// It runs once, which is too short for what the second compiler costs.
	command := exec.CommandContext(t.Context(), java, "-XX:TieredStopAtLevel=1", "-Xss4m", "-jar", validator, "--format", "json",
		"--exit-zero-always", dir)
	var out strings.Builder
	command.Stderr = &out
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	var report struct {
		Messages []struct{ Type, URL, Message, Extract string }
	}
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	for _, m := range report.Messages {
		if m.Type == "info" && strings.HasPrefix(names[m.URL], "hostile") {
			continue // such as that a title begins with a combining character
		}
		t.Errorf("%s: %s: %s at %.200s", names[m.URL], m.Type, m.Message, m.Extract)
	}
}

// The menu of periods shows the period in the address, even one that the menu does not offer.
func TestThePeriodThatIsShownIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	for since, want := range map[string]string{
		"": `value="30d" selected>30 days<`, "7d": `value="7d" selected>7 days<`, "14d": `value="14d" selected>14 days<`,
		"2026-11-01": `value="2026-11-01" selected>2026-11-01<`,
	} {
		for _, page := range []string{"/trends", "/rules", "/rules/security/S2"} {
			if text := r.get(page+"?since="+since, http.StatusOK); !strings.Contains(text, want) || strings.Count(text, " selected>") != 1 {
				t.Errorf("%s since %q does not show %s alone", page, since, want)
			}
		}
	}
}

// The filter of the events shows what the address asks for.
func TestTheFilterThatIsShownIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	r, _ := usual(t)
	text := r.get("/log?type=push&repo=acme/*&number=7", http.StatusOK)
	for _, want := range []string{`name="type" value="push"`, `name="repo" value="acme/*"`, `name="number" value="7"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
