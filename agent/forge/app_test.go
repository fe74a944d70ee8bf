package forge_test

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

// counted counts the tokens of installations that are asked for.
type counted struct{ tokens atomic.Int64 }

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/access_tokens") {
		c.tokens.Add(1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// installed is an App in a private acme/app, where only its installation lets it see anything.
func installed(t *testing.T) (w *world, app simtest.App, client *forge.Client, asked *counted) {
	t.Helper()
	w = start(t, githubsim.RepoOptions{Private: true, Permissions: map[string]string{octocat: "write", hubot: "write"}})
	app = w.App()
	if err := w.Install(app.Login, "acme", "acme/app"); err != nil {
		t.Fatal(err)
	}
	client, asked = w.actingAs(app)
	return w, app, client, asked
}

func (w *world) actingAs(app simtest.App) (*forge.Client, *counted) {
	w.t.Helper()
	asked := &counted{}
	c, err := forge.New(forge.Config{APIURL: w.URL, App: &forge.App{ID: app.ID, Key: app.Key}, Transport: asked, Version: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return c, asked
}

func TestAnAppActsInTheRepositoriesOfItsInstallation(t *testing.T) {
	w, app, client, asked := installed(t)
	ref, sha := w.open("topic")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := client.PullRequest(t.Context(), ref); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := asked.tokens.Load(); n != 1 {
		t.Errorf("8 reads at once asked for %d tokens", n)
	}
	if _, err := forge.NewPoster(client).PostReview(t.Context(), ref, forge.Review{SHA: sha, Event: "APPROVE", Body: "Good."}); err != nil {
		t.Fatal(err)
	}
	pr := w.read(ref)
	if len(pr.Reviews) != 1 || pr.Reviews[0].Author.Login != app.Login || !pr.Reviews[0].CanPush {
		t.Errorf("the reviews are %+v", pr.Reviews)
	}
	self, err := client.Viewer(t.Context())
	if err != nil || self != app.Login {
		t.Errorf("it acts as %q, %v", self, err)
	}
	url, authorization, err := client.Remote(t.Context(), ref.Repo)
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("git", "-c", "http.extraHeader=Authorization: "+authorization, "ls-remote", url, "refs/heads/topic").
		CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), sha) {
		t.Errorf("git says %s, %v", said, err)
	}
}

func TestAnAppsTokenIsRenewed(t *testing.T) {
	w, _, client, asked := installed(t)
	ref, _ := w.open("topic")
	look := func(tokens int64) {
		t.Helper()
		if _, err := client.HeadSHA(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if n := asked.tokens.Load(); n != tokens {
			t.Errorf("%d tokens were asked for, want %d", n, tokens)
		}
	}
	look(1)
	look(1)
	// GitHub's clock goes on, and with it the token ends: the 401 is answered with another one.
	w.Advance(61 * time.Minute)
	look(2)
	look(2)
}

func TestAnAppsClockMayBeWrong(t *testing.T) {
	for _, off := range []time.Duration{-3 * time.Hour, -11 * time.Minute, 5 * time.Minute, 2 * time.Hour} {
		w, _, client, asked := installed(t)
		w.Advance(off)
		for range 2 {
			if _, err := client.OpenPullRequests(t.Context(), forge.Repo{Owner: "acme", Name: "app"}); err != nil {
				t.Errorf("GitHub's clock is ahead by %s: %v", off, err)
			}
		}
		if n := asked.tokens.Load(); n > 2 {
			t.Errorf("GitHub's clock is ahead by %s: %d tokens were asked for", off, n)
		}
	}
}

func TestWhyAnAppCannotActIsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(w *world, app simtest.App) error
		kind error
		says []string
	}{
		"suspended": {
			func(w *world, app simtest.App) error { return w.Suspend(app.Login, "acme", true) }, forge.ErrForbidden,
			[]string{"suspended", "ask its owner to end the suspension at", "/organizations/acme/settings/installations/"},
		},
		"uninstalled": {
			func(w *world, app simtest.App) error { return w.Uninstall(app.Login, "acme") }, forge.ErrNotFound,
			[]string{"not installed on acme/app", "/apps/acme-reviewer/installations/new"},
		},
		"taken out of the installation": {
			func(w *world, app simtest.App) error {
				err := w.CreateRepo(w.Ctx, githubsim.RepoOptions{Owner: "acme", Name: "other", Files: map[string]string{"a": "b"}})
				return errors.Join(err, w.Install(app.Login, "acme", "acme/other"))
			}, forge.ErrNotFound, []string{"not installed on acme/app", "/apps/acme-reviewer/installations/new"},
		},
		"its key was deleted": {
			func(w *world, app simtest.App) error { w.RevokeKeys(app.Login); return nil }, forge.ErrUnauthorized,
			[]string{"the App's private key was deleted, or belongs to another App", "github.app_key_file"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, app, client, _ := installed(t)
			ref, _ := w.open("topic")
			if _, err := client.HeadSHA(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			if err := test.do(w, app); err != nil {
				t.Fatal(err)
			}
			w.Advance(2 * time.Hour) // with the token at its end
			_, err := client.HeadSHA(t.Context(), ref)
			if !errors.Is(err, test.kind) {
				t.Errorf("%v", err)
			}
			for _, part := range test.says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
			if err != nil && strings.Contains(err.Error(), "ghs_") {
				t.Errorf("the error shows a token: %v", err)
			}
		})
	}
}

// gone answers as GitHub does of an App that was deleted.
type gone struct{}

func (gone) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
		`{"message":"Integration not found","documentation_url":"https://docs.github.com/rest"}`))}, nil
}

func TestAnAppThatWasDeletedIsSaid(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c, err := forge.New(forge.Config{App: &forge.App{ID: 7, Key: key}, Transport: gone{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, look := range []func() error{
		func() error { _, err := c.Viewer(t.Context()); return err },
		func() error { _, err := c.HeadSHA(t.Context(), forge.Ref{Repo: app, Number: 1}); return err },
	} {
		if err := look(); err == nil || !strings.Contains(err.Error(), "check github.app_id") {
			t.Errorf("%v does not say which setting is wrong", err)
		}
	}
}

func TestAnotherAppsKeyIsSaid(t *testing.T) {
	w, app, _, _ := installed(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []simtest.App{{ID: app.ID + 1000, Key: app.Key}, {ID: app.ID, Key: other}} {
		client, _ := w.actingAs(wrong)
		_, err := client.Viewer(t.Context())
		if err == nil || !strings.Contains(err.Error(), "app_") {
			t.Errorf("%v does not say which setting is wrong", err)
		}
	}
}

// TestAnAppReadsPublicRepositoriesBesideItsOwn: without a word for which repository it reads, it is told to be installed.
func TestAnAppReadsPublicRepositoriesBesideItsOwn(t *testing.T) {
	w, _, client, _ := installed(t)
	files := map[string]string{"a.c": "a\n"}
	lib, secret := forge.Repo{Owner: guest, Name: "lib"}, forge.Repo{Owner: guest, Name: "secret"}
	for repo, private := range map[forge.Repo]bool{lib: false, secret: true} {
		if err := w.CreateRepo(t.Context(), githubsim.RepoOptions{Owner: repo.Owner, Name: repo.Name, Files: files, Private: private,
			Permissions: map[string]string{}}); err != nil {
			t.Fatal(err)
		}
	}
	beside := forge.Beside(t.Context(), forge.Repo{Owner: "acme", Name: "app"})
	tip, err := client.Tip(beside, lib, "")
	if err != nil || tip.Name != "main" {
		t.Errorf("a public one: %+v, %v", tip, err)
	}
	if got, err := client.Compare(beside, lib, tip.SHA, tip.SHA); err != nil || !got.Contains {
		t.Errorf("compared: %+v, %v", got, err)
	}
	if _, err := client.Tip(beside, secret, ""); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a private one: %v", err)
	}
	if _, err := client.Tip(t.Context(), lib, ""); !errors.Is(err, forge.ErrNotFound) ||
		!strings.Contains(err.Error(), "not installed on guest/lib") {
		t.Errorf("for no repository: %v", err)
	}
}
