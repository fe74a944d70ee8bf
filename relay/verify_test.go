package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// verifyStore runs touchstone-relay verify and returns its exit code and what it found.
func verifyStore(t *testing.T, store string, environment ...string) (code int, found string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), buildRelay(t), "verify", "--store", store)
	command.Env = append(append(os.Environ(), "RELAY_GITHUB_SECRET="+testSecret), environment...)
	out, err := command.Output()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// fill makes a relay store five events, each in its own commit.
func fill(t *testing.T, store string, environment ...string) {
	t.Helper()
	p := startRelay(t, buildRelay(t), store, "", environment...)
	for i := range 5 {
		p.expect(t, i, http.StatusAccepted)
	}
	p.kill()
}

func TestVerifyTamperedSQLite(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ tamper, want string }{
		"untouched":   {"", "is sound: 5 events, 1 to 5; 5 match their signatures\n"},
		"gap":         {"DELETE FROM events WHERE seq = 3", "event 3 is damaged: it is missing"},
		"bad payload": {"UPDATE events SET payload = x'7b7d' WHERE seq = 3", "event 3 is damaged: its checksum does not match"},
		"bad headers": {"UPDATE events SET headers = '{' WHERE seq = 3", "event 3 is damaged: its checksum does not match"},
		"order": {"UPDATE events SET seq = 9 WHERE seq = 3",
			"event 3 is damaged: it is missing\nevents 6 to 8 are damaged: it is missing\nevent 9 is damaged"},
		"index": {"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'delivery)', 'type)') WHERE name = " +
			"'events_by_delivery'", "the file is damaged: "},
		// A person who can write to the file can bring a checksum with it, but no signature.
		"signature": {"UPDATE events SET payload = x'7b7d', checksum = NULL WHERE seq = 3",
			"the signature of event 3 does not match, though earlier ones do"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			fill(t, store)
			db, err := sql.Open("sqlite", strings.TrimPrefix(store, "sqlite:"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(test.tamper)
			must(t, errors.Join(err, db.Close()))
			checkVerified(t, test.want, test.tamper != "", store)
		})
	}
}

// A copy of a running relay's file alone holds nothing of what is in the file beside it. It is not a sound log, and nothing makes
// one of it.
func TestACopyWithoutALogIsNotSound(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	p := startRelay(t, buildRelay(t), store, "")
	p.expect(t, 0, http.StatusAccepted)
	file, err := os.ReadFile(strings.TrimPrefix(store, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	copied := newStore(t)
	must(t, os.WriteFile(strings.TrimPrefix(copied, "sqlite:"), file, 0o600))
	for _, command := range []string{"verify", "renew"} {
		out, err := exec.CommandContext(t.Context(), buildRelay(t), command, "--store", copied).CombinedOutput()
		if failed := new(exec.ExitError); !errors.As(err, &failed) || failed.ExitCode() != 1 || !strings.Contains(string(out), ".backup") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

func checkVerified(t *testing.T, want string, tampered bool, store string, environment ...string) {
	t.Helper()
	code, found := verifyStore(t, store, environment...)
	if !strings.Contains(found, want) || (code == 1) != tampered || (code == 0) == tampered {
		t.Errorf("exit code %d, found:\n%swant %q", code, found, want)
	}
}

func TestVerifyTamperedFirestore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tamper func(documents)
		want   string
	}{
		"untouched": {func(documents) {}, "is sound: 5 events, 1 to 5"},
		"gap":       {func(d documents) { d.do(http.MethodDelete, block(3), nil) }, "event 3 is damaged: it is missing"},
		"bad payload": {func(d documents) { d.set(block(3), "data", map[string]any{"bytesValue": "AAAA"}) },
			"event 3 is damaged: the block is damaged: its checksum differs"},
		"order": {func(d documents) { d.set(block(3), "last", map[string]any{"integerValue": "9"}) },
			"event 3 is damaged: it is missing"},
		"order behind": {func(d documents) { d.set(block(3), "last", map[string]any{"integerValue": "1"}) }, "event 3 is damaged"},
		"delivery twice": {func(d documents) { d.set(block(3), "data", d.get(block(2), "data")) },
			"event 3 is damaged: the block is damaged: its checksum differs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, host := database(t)
			address := "FIRESTORE_EMULATOR_HOST=" + host
			fill(t, store, address)
			test.tamper(documents{t, fmt.Sprintf("http://%s/v1/projects/%s/databases/(default)/documents/", host,
				strings.TrimPrefix(store, "firestore:"))})
			checkVerified(t, test.want, name != "untouched", store, address)
		})
	}
}

// documents is a database in the form of Firestore's REST API
// (https://cloud.google.com/firestore/docs/reference/rest/v1/projects.databases.documents).
type documents struct {
	t   *testing.T
	url string
}

// block returns the name of the document of the block that begins with an event.
func block(first int) string { return fmt.Sprintf("relay-log/%016d", first) }

func (d documents) do(method, path string, body []byte) []byte {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		d.t.Fatalf("%s %s: %s, %v\n%s", method, path, response.Status, err, answer)
	}
	return answer
}

// get returns one field of a document.
func (d documents) get(path, field string) any {
	d.t.Helper()
	var document struct{ Fields map[string]any }
	must(d.t, json.Unmarshal(d.do(http.MethodGet, path, nil), &document))
	return document.Fields[field]
}

// set changes one field of a document.
func (d documents) set(path, field string, value any) {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{"fields": map[string]any{field: value}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.do(http.MethodPatch, path+"?updateMask.fieldPaths="+field, body)
}
