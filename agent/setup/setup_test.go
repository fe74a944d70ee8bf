package setup

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/relay/event"
)

const (
	code  = "inv_abcdefgh_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst"
	token = "rly_abcdefgh_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst"
)

func TestParseInvitation(t *testing.T) {
	for link, want := range map[string]string{
		"https://relay.example.com/join#" + code:        "https://relay.example.com",
		" https://example.com/relay/join#" + code + " ": "https://example.com/relay",
		"http://127.0.0.1:8080/join#" + code:            "http://127.0.0.1:8080",
		"http://localhost:8080/join#" + code:            "http://localhost:8080",
	} {
		if got, err := ParseInvitation(link); err != nil || got.Relay != want || got.code != code {
			t.Errorf("%s: %+v, %v", link, got, err)
		}
	}
	for link, want := range map[string]string{
		"": "give the whole link", code: "give the whole link", "ftp://relay.example.com/join#" + code: "give the whole link",
		"https://relay.example.com/join":               "no invitation's code",
		"https://relay.example.com/#" + code:           "no invitation's code",
		"https://relay.example.com/join#" + code[:20]:  "or not the whole of it",
		"http://relay.example.com/join#" + code:        "not be encrypted",
		"http://127.0.0.1.example.com/join#" + code:    "not be encrypted",
		"https://relay.example.com/join#" + code + "x": "no invitation's code",
	} {
		if _, err := ParseInvitation(link); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), code[4:]) {
			t.Errorf("%s: %v, want %q", link, err, want)
		}
	}
}

func TestAnInvitationIsRedeemedOrRefused(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		err    string
	}{
		"joined": {func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(`{"relay":"https://elsewhere.example","token":"` + token + `","role":"author","repositories":["acme/app"],` +
				`"reviewers":["bot"]}`))
		}, ""},
		"used": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusGone)
			w.Write([]byte(`{"error":"this invitation was already used"}`))
		}, "this invitation was already used"},
		"a role that is a path": {func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(`{"token":"` + token + `","role":"../../x","repositories":[],"reviewers":[]}`))
		}, "which no relay does"},
		"a token of two lines": {func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(`{"token":"` + token + `\nx","role":"author","repositories":[],"reviewers":[]}`))
		}, "which no relay does"},
		"a page": {func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<html>")) }, "which no relay does"},
		"sent on": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, "307"},
	} {
		t.Run(name, func(t *testing.T) {
			relay := httptest.NewServer(test.answer)
			defer relay.Close()
			got, err := Invitation{Relay: relay.URL, code: code}.Redeem(t.Context())
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %q", err, test.err)
				}
				return
			}
			want := event.Membership{Relay: relay.URL, Token: token, Role: "author", Repositories: []string{"acme/app"}, Reviewers: []string{"bot"}}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

var joining = []Change{
	{"repositories", []string{"acme/app"}}, {"reviewers", []string{"bot"}}, {"relay.url", "https://relay.example.com"},
	{"relay.token_file", "relay-token"}, {"github.token_command", []string{"gh", "auth", "token"}},
	{"engine.acp.command", []string{"goose", "acp"}},
}

func TestWriteKeepsWhatPeopleWrote(t *testing.T) {
	for name, before := range map[string]string{
		"no file": "", "comments": "# mine\n", "the example": config.Example,
		"others": "# mine\nsweep: 1m # often\nrelay: {url: \"http://old\"}\n" +
			"github:\n  # ours\n  api_url: https://github.example.com/api/v3/\n",
		"a byte order mark":         "\ufeffrelay:\r\n  url: http://old\r\n# mine\r\n",
		"sections without settings": "relay:\n  # mine\ngithub:\nengine:\n  acp: ~\nsweep: 1m\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "agent.yaml")
			if before != "" {
				if err := Save(path, []byte(before)); err != nil {
					t.Fatal(err)
				}
			}
			said, err := Write(path, joining)
			if err != nil || len(said) == 0 {
				t.Fatalf("%q, %v", said, err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			// What is not there yet cannot be read: the secrets, which are written with this.
			for _, secret := range []string{"relay-token"} {
				if err := Save(filepath.Join(filepath.Dir(path), secret), []byte(token)); err != nil {
					t.Fatal(err)
				}
			}
			cfg, err := config.Load(path, func(name string) string {
				return map[string]string{"GITHUB_TOKEN": "t", "HOME": t.TempDir()}[name]
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if !slices.Equal(cfg.Repositories, []string{"acme/app"}) || !slices.Equal(cfg.Reviewers, []string{"bot"}) ||
				cfg.Relay.URL != "https://relay.example.com" || string(cfg.Relay.Token) != token || len(cfg.GitHub.TokenCommand) != 3 ||
				!slices.Equal(cfg.Engine.ACP.Command, []string{"goose", "acp"}) {
				t.Errorf("it says %+v\n%s", cfg, text)
			}
			if strings.Contains(before, "github.example.com") && cfg.GitHub.APIURL != "https://github.example.com/api/v3/" {
				t.Errorf("the API's address is lost:\n%s", text)
			}
			if strings.Contains(before, "# mine") && !strings.Contains(string(text), "# mine") {
				t.Errorf("a comment is lost:\n%s", text)
			}
			if again, err := Write(path, joining); err != nil || len(again) > 0 {
				t.Errorf("the second time: %q, %v", again, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
				t.Errorf("others may read it: %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestAFolderThatCannotBeMadeSaysWhatToDo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.Symlink(filepath.Join(t.TempDir(), "nowhere"), folder); err != nil {
		t.Skipf("no links here: %v", err)
	}
	err := Check(filepath.Join(folder, "agent.yaml"), joining)
	if err == nil || !strings.Contains(err.Error(), "change its owner or mode, or name another file with --config") {
		t.Errorf("it says %v", err)
	}
}

func TestWriteKeepsALink(t *testing.T) {
	kept, path := filepath.Join(t.TempDir(), "kept.yaml"), filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(kept, []byte("# mine\nsweep: 1m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := Check(path, joining); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(path, joining); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(path); err != nil || to != kept {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), "# mine") || !strings.Contains(string(text), "acme/app") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestWriteSaysWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := Save(path, []byte("relay: {url: \"http://old\"}\n")); err != nil {
		t.Fatal(err)
	}
	said, err := Write(path, joining[1:3])
	want := []string{"reviewers is [bot]", "relay.url is https://relay.example.com; it was http://old"}
	if err != nil || !slices.Equal(said, want) {
		t.Errorf("%q, %v", said, err)
	}
	before, _ := os.ReadFile(path)
	_, err = Write(path, []Change{{"reviewers", []string{"two words"}}})
	if err == nil || !strings.Contains(err.Error(), "which is not a login") {
		t.Errorf("what cannot work is written: %v", err)
	}
	if now, _ := os.ReadFile(path); string(now) != string(before) {
		t.Errorf("it was overwritten: %s", now)
	}
	for _, text := range []string{"relay: [\n", "{sweep: 1m, repositories: [acme/old]}\n", "a: 1\n---\nb: 2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(path, joining); err == nil || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%q: %v", text, err)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%q was overwritten: %s", text, now)
		}
	}
}

// TestSeedMakesNothingOutsideOfTheRepository checks this with links, since others may have written the
// clone's tracked files.
func TestSeedMakesNothingOutsideOfTheRepository(t *testing.T) {
	t.Parallel()
	top, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(top, ".touchstone")); err != nil {
		t.Fatal(err)
	}
	made, err := Seed(top)
	if left, _ := os.ReadDir(outside); err == nil || len(made) > 0 || len(left) > 0 {
		t.Errorf("a link out of the repository was followed: %v, %v, %v", made, left, err)
	}
}
