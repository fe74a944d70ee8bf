package githubsim_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
)

// hookSurface makes each kind of request about a repository's webhooks once.
func (w *world) hookSurface() {
	t, ctx, admin := w.t, w.t.Context(), w.As("admin")
	hooks := must(admin.Repositories.ListHooks(ctx, "acme", "app", nil))(t)
	id := hooks[0].GetID()
	succeeds(t)(admin.Repositories.PingHook(ctx, "acme", "app", id))
	w.Settle()
	deliveries := must(admin.Repositories.ListHookDeliveries(ctx, "acme", "app", id, nil))(t)
	must(admin.Repositories.GetHookDelivery(ctx, "acme", "app", id, deliveries[0].GetID()))(t)
	_, resp, err := admin.Repositories.RedeliverHookDelivery(ctx, "acme", "app", id, deliveries[0].GetID())
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("redeliver: %v", err)
	}
	second := must(admin.Repositories.CreateHook(ctx, "acme", "app", &github.Hook{
		Events: []string{"push"}, Config: &github.HookConfig{URL: github.String("http://127.0.0.1:1/")},
	}))(t)
	must(admin.Repositories.EditHook(ctx, "acme", "app", second.GetID(), &github.Hook{Active: github.Bool(false)}))(t)
	if _, _, err := w.As(reviewer).Repositories.ListHooks(ctx, "acme", "app", nil); status(err) != http.StatusNotFound {
		t.Errorf("hooks without administration: %v", err)
	}
}

// orgHookSurface does the same for the organization's.
func (w *world) orgHookSurface() {
	t, ctx, admin := w.t, w.t.Context(), w.As("admin")
	hook := must(admin.Organizations.CreateHook(ctx, "acme", &github.Hook{
		Name: github.String("web"), Events: []string{"*"},
		Config: &github.HookConfig{URL: github.String("http://127.0.0.1:1/"), ContentType: github.String("json")},
	}))(t)
	succeeds(t)(admin.Organizations.PingHook(ctx, "acme", hook.GetID()))
	must(admin.Organizations.EditHook(ctx, "acme", hook.GetID(), &github.Hook{Active: github.Bool(true)}))(t)
	must(admin.Organizations.ListHooks(ctx, "acme", nil))(t)
	w.Settle()
	deliveries := must(admin.Organizations.ListHookDeliveries(ctx, "acme", hook.GetID(), nil))(t)
	must(admin.Organizations.GetHookDelivery(ctx, "acme", hook.GetID(), deliveries[0].GetID()))(t)
	if _, resp, err := admin.Organizations.RedeliverHookDelivery(ctx, "acme", hook.GetID(),
		deliveries[0].GetID()); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("redeliver: %v", err)
	}
	for _, login := range []string{reviewer, bot} {
		if _, _, err := w.As(login).Organizations.ListHooks(ctx, "acme", nil); status(err) != http.StatusNotFound {
			t.Errorf("the organization's hooks as %s: %v", login, err)
		}
	}
	if _, _, err := admin.Organizations.ListHooks(ctx, "none", nil); status(err) != http.StatusNotFound {
		t.Errorf("hooks of no organization: %v", err)
	}
}

// key signs as the app.
var key = func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}()

// signed is a JSON web token of an app that lives from one time to another, seen from now.
func signed(t testing.TB, by *rsa.PrivateKey, app string, from, to time.Duration) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	claims, err := json.Marshal(map[string]any{"iss": app, "iat": time.Now().Add(from).Unix(), "exp": time.Now().Add(to).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, by, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(signature)
}

func (w *world) withToken(token string) *github.Client {
	w.t.Helper()
	client, err := github.NewClient(nil).WithAuthToken(token).WithEnterpriseURLs(w.URL, w.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

func TestAnAppSeesItsOwnWebhook(t *testing.T) {
	w := start(t, func(cfg *githubsim.Config) {
		for i := range cfg.Users {
			if cfg.Users[i].App {
				cfg.Users[i].AppID, cfg.Users[i].AppKey = "12", &key.PublicKey
			}
		}
	}, githubsim.RepoOptions{Private: true, Permissions: map[string]string{author: "write", bot: "read"}})
	inbox := w.receive("json", func(url string) {
		app := w.withToken(signed(t, key, "12", -time.Minute, 9*time.Minute))
		must(app.Apps.UpdateHookConfig(t.Context(),
			&github.HookConfig{URL: &url, ContentType: github.String("json"), Secret: github.String(hookSecret)}))(t)
	})
	app, ctx := w.withToken(signed(t, key, "12", -time.Minute, 9*time.Minute)), t.Context()
	must(app.Apps.GetHookConfig(ctx))(t)
	must(app.Apps.Get(ctx, ""))(t)
	w.open("feature", map[string]string{"a.txt": "a\n"})
	if kinds := inbox.kinds(); !slices.Contains(kinds, "pull_request/opened") {
		t.Fatalf("the app heard %v", kinds)
	}
	var payload struct{ Installation struct{ ID int64 } }
	if err := json.Unmarshal(inbox.events[0].payload, &payload); err != nil || payload.Installation.ID == 0 {
		t.Errorf("the payload names the installation %d, %v", payload.Installation.ID, err)
	}
	list := must(app.Apps.ListHookDeliveries(ctx, nil))(t)
	if len(list) != len(inbox.kinds()) || list[0].GetInstallationID() != payload.Installation.ID {
		t.Errorf("%d deliveries, the newest to installation %d", len(list), list[0].GetInstallationID())
	}
	must(app.Apps.GetHookDelivery(ctx, list[0].GetID()))(t)
	if _, resp, err := app.Apps.RedeliverHookDelivery(ctx, list[0].GetID()); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("redeliver: %v", err)
	}
	w.Settle()
	if got := len(inbox.kinds()); got != len(list)+1 {
		t.Errorf("%d received after one redelivery of %d", got, len(list))
	}

	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"somebody else's key":   signed(t, stranger, "12", -time.Minute, 9*time.Minute),
		"another app":           signed(t, key, "13", -time.Minute, 9*time.Minute),
		"expired":               signed(t, key, "12", -time.Hour, -time.Minute),
		"not yet valid":         signed(t, key, "12", time.Minute, 9*time.Minute),
		"valid for too long":    signed(t, key, "12", -time.Minute, time.Hour),
		"an installation token": simtest.Token(bot),
		"a person's token":      simtest.Token("admin"),
		"no token of this form": "a.b.c",
	} {
		if _, _, err := w.withToken(token).Apps.ListHookDeliveries(ctx, nil); status(err) != http.StatusUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A JSON web token is no password and no token of the old form: an app that may write signs in with it neither to REST nor to git.
func TestAnAppSignsInOnlyAsABearer(t *testing.T) {
	w := start(t, func(cfg *githubsim.Config) {
		for i := range cfg.Users {
			if cfg.Users[i].App {
				cfg.Users[i].AppID, cfg.Users[i].AppKey = "12", &key.PublicKey
			}
		}
	}, githubsim.RepoOptions{Private: true, Permissions: map[string]string{bot: "write"}})
	token := signed(t, key, "12", -time.Minute, 9*time.Minute)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
	for _, tt := range []struct {
		path, credential string
		want             int
	}{
		{"/app", "Bearer " + token, http.StatusOK},
		{"/app", "token " + token, http.StatusUnauthorized},
		{"/app", basic, http.StatusUnauthorized},
		{"/repos/acme/app", basic, http.StatusUnauthorized},
		{"/acme/app.git/info/refs?service=git-receive-pack", basic, http.StatusUnauthorized},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+tt.path, nil)
		w.Must(err)
		req.Header.Set("Authorization", tt.credential)
		resp, err := http.DefaultClient.Do(req)
		w.Must(err)
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s with %.6s: %d, want %d", tt.path, tt.credential, resp.StatusCode, tt.want)
		}
	}
}

func TestDeliveriesPageByCursor(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	w.listen("json", "issue_comment")
	n := w.open("feature", map[string]string{"a.txt": "a\n"}).GetNumber()
	comment := func(text string) {
		must(w.As(author).Issues.CreateComment(t.Context(), "acme", "app", n, &github.IssueComment{Body: &text}))(t)
	}
	for i := range 7 {
		comment(fmt.Sprint(i))
	}
	w.Settle()
	admin, ctx := w.As("admin"), t.Context()
	id := must(admin.Repositories.ListHooks(ctx, "acme", "app", nil))(t)[0].GetID()
	var seen []int64
	pages := 0
	for options := (&github.ListCursorOptions{PerPage: 3}); ; pages++ {
		list, resp, err := admin.Repositories.ListHookDeliveries(ctx, "acme", "app", id, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			seen = append(seen, d.GetID())
		}
		comment("one more, which moves no page")
		if options.Cursor = resp.Cursor; options.Cursor == "" {
			break
		}
	}
	w.Settle()
	if len(seen) != 8 || pages != 2 || !slices.IsSortedFunc(seen, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%v in %d pages; want the ping and seven comments, the newest first", seen, pages+1)
	}
	if _, _, err := admin.Repositories.ListHookDeliveries(ctx, "acme", "app", id,
		&github.ListCursorOptions{Cursor: "nonsense"}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("a cursor that nobody gave: %v", err)
	}
}

func TestTheOrganizationHearsOfItsRepositories(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	inbox := w.receive("json", func(url string) {
		must(w.As("admin").Organizations.CreateHook(t.Context(), "acme", &github.Hook{
			Name: github.String("web"), Events: []string{"pull_request"},
			Config: &github.HookConfig{URL: &url, ContentType: github.String("json"), Secret: github.String(hookSecret)},
		}))(t)
	})
	w.open("feature", map[string]string{"a.txt": "a\n"})
	if got := inbox.kinds(); !slices.Equal(got, []string{"ping", "pull_request/opened"}) {
		t.Fatal(got)
	}
	var payload struct {
		Organization struct {
			ID    int64
			Login string
		}
		Repository struct{ Owner struct{ ID int64 } }
	}
	w.Must(json.Unmarshal(inbox.events[1].payload, &payload))
	if of := payload.Organization; of.Login != "acme" || of.ID != payload.Repository.Owner.ID {
		t.Errorf("the payload is of the organization %+v, and its repository of %d", of, payload.Repository.Owner.ID)
	}
}
