package server_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/token"
	"touchstone/worktree/await"
)

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// paged returns a relay with a page, and with a token for each of these scopes.
func paged(t *testing.T, scopes ...event.Filter) (*relay, token.Store, []string) {
	t.Helper()
	dir := t.TempDir()
	store := token.File{Path: filepath.Join(dir, "relay.db.tokens")}
	var texts []string
	for i, scope := range scopes {
		texts = append(texts, mint(t, store, fmt.Sprint("browser-", i), token.Subscriber, scope))
	}
	checker := newChecker(t, store)
	page := &server.Page{File: filepath.Join(dir, "page.db"), Reviewers: []string{"judge"}, GitHub: []string{"github"},
		Store: "sqlite:" + filepath.Join(dir, "relay.db")}
	return start(t, server.Config{Tokens: checker, Page: page}), store, texts
}

// pullPayload is the payload of a pull request that was opened.
func pullPayload(repo, title string) string {
	id := crc32.ChecksumIEEE([]byte(repo)) // two of one id would be one of a renamed repository
	return fmt.Sprintf(`{"action":"opened","number":1,"repository":{"full_name":%q},"pull_request":{"id":%d,"number":1,"title":%q,"state":"open","user":{"login":"alice"},
		"head":{"sha":"aaa","ref":"b"},"base":{"ref":"main"},"created_at":"2026-11-01T10:00:00Z","updated_at":"2026-11-01T10:00:00Z","html_url":"https://github.test/x"}}`, repo, id, title)
}

// browser follows no redirects, and keeps cookies. It sends Secure cookies over plain HTTP to a loopback
// address, as browsers do.
func (r *relay) browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: onLoopback{jar}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

type onLoopback struct{ http.CookieJar }

func (j onLoopback) Cookies(u *url.URL) []*http.Cookie { return j.CookieJar.Cookies(encrypted(u)) }
func (j onLoopback) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.CookieJar.SetCookies(encrypted(u), cookies)
}

func encrypted(u *url.URL) *url.URL {
	other := *u
	other.Scheme = "https"
	return &other
}

func do(t *testing.T, client *http.Client, method, address, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(request.Header, header)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

var form = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}

func TestPageSignsInWithATokenThatLives(t *testing.T) {
	r, store, texts := paged(t, event.Filter{Repos: []string{"acme/*"}}, event.Filter{})
	r.postGitHub(t, "pull_request", pullPayload("acme/app", "Inside"))
	r.postGitHub(t, "pull_request", pullPayload("secret/app", "Outside"))
	browser := r.browser(t)
	response, _ := do(t, browser, http.MethodGet, r.address+"/pulls/acme/app/1", "", nil)
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "/sign-in?to=%2Fpulls%2Facme%2Fapp%2F1" {
		t.Fatalf("a stranger: %s, to %s", response.Status, to)
	}
	if response, text := do(t, browser, http.MethodPost, r.address+"/sign-in", "token=rly_wrong",
		form); response.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "not valid here") {
		t.Errorf("a wrong token: %s", response.Status)
	}
	response, _ = do(t, browser, http.MethodPost, r.address+"/sign-in", url.Values{"token": {texts[0]}, "to": {"//evil.test/"}}.Encode(), form)
	cookie := response.Header.Get("Set-Cookie")
	if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != "/" {
		t.Fatalf("a good token: %s, to %s", response.Status, response.Header.Get("Location"))
	}
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if strings.Contains(cookie, texts[0]) || strings.Contains(cookie, strings.Split(texts[0], "_")[2]) {
		t.Error("the cookie shows the token")
	}
	response, text := do(t, browser, http.MethodGet, r.address+"/", "", nil)
	if response.StatusCode != http.StatusOK || !strings.Contains(text, "Inside") || strings.Contains(text, "Outside") ||
		strings.Contains(text, "secret/app") {
		t.Errorf("the board: %s\n%s", response.Status, text)
	}
	if got := response.Header.Get("Content-Security-Policy"); got != policy {
		t.Errorf("policy %q", got)
	}
	if response.Header.Get("X-Content-Type-Options") != "nosniff" || response.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers %v", response.Header)
	}
	for path, want := range map[string]int{
		"/pulls/acme/app/1": 200, "/pulls/secret/app/1": 404, "/api/v1/pulls/secret/app/1": 404, "/log": 200, "/rules": 200,
		"/rules/security/S2": 200, "/rules/none": 404, "/trends": 200, "/machines": 200, "/health": 200,
		"/?state=nonsense": 400, "/api/v1/events?number=x": 400, "/log/nonsense": 400, "/api/v1/pulls?page=-1": 400, "/api/v1/none": 404,
	} {
		if response, text := do(t, browser, http.MethodGet, r.address+path, "", nil); response.StatusCode != want ||
			strings.Contains(text, "Outside") {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	// A page of another origin has the browser send the cookie, if an old browser does so at all.
	elsewhere := http.Header{"Origin": {"https://evil.test"}, "Sec-Fetch-Site": {"cross-site"}}
	if response, _ := do(t, browser, http.MethodPut, r.address+"/api/v1/machines/self", `{"role":"author","login":"x"}`,
		elsewhere); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a write from another origin: %s", response.Status)
	}
	if response, _ := do(t, browser, http.MethodPost, r.address+"/sign-out", "", elsewhere); response.StatusCode != http.StatusForbidden {
		t.Errorf("a sign-out from another origin: %s", response.Status)
	}
	revoke(t, store, texts[0])
	await.Until(t, "the sign-in to end with its token", func() bool {
		response, _ := do(t, browser, http.MethodGet, r.address+"/api/v1/pulls", "", nil)
		return response.StatusCode == http.StatusUnauthorized
	})
}

func TestOneTimeLinkSignsInOnce(t *testing.T) {
	r, _, texts := paged(t, event.Filter{})
	_, text := do(t, http.DefaultClient, http.MethodPost, r.address+"/sign-in/link", "", http.Header{"Authorization": {"Bearer " + texts[0]}})
	var answer struct{ Link string }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || !strings.HasPrefix(answer.Link, r.address+"/sign-in?code=") {
		t.Fatalf("%s, %v", text, err)
	}
	link, err := url.Parse(answer.Link)
	if err != nil {
		t.Fatal(err)
	}
	code := link.Query().Get("code")
	if _, text := do(t, http.DefaultClient, http.MethodGet, answer.Link, "", nil); !strings.Contains(text, "once") ||
		!strings.Contains(text, code) {
		t.Errorf("what opens behind the link: %s", text)
	}
	browser := r.browser(t)
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		if response, _ := do(t, browser, http.MethodPost, r.address+"/sign-in", url.Values{"code": {code}}.Encode(),
			form); response.StatusCode != want {
			t.Errorf("try %d: %s", i+1, response.Status)
		}
	}
	if response, _ := do(t, browser, http.MethodGet, r.address+"/", "", nil); response.StatusCode != http.StatusOK {
		t.Errorf("signed in: %s", response.Status)
	}
	// A link's code is no session, nor a session's cookie a code.
	if response, _ := do(t, http.DefaultClient, http.MethodGet, r.address+"/api/v1/pulls", "",
		http.Header{"Cookie": {"touchstone_session=" + code}}); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a code as a cookie: %s", response.Status)
	}
}

// While the store cannot say whether a link was used, the link signs nobody in; it works afterwards.
func TestOneTimeLinkWaitsForTheStore(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "relay.db"))
	page := &server.Page{File: filepath.Join(t.TempDir(), "page.db")}
	r, admin, _ := administered(t, server.Config{Store: store, Page: page})
	_, text := do(t, http.DefaultClient, http.MethodPost, r.address+"/sign-in/link", "", http.Header{"Authorization": {"Bearer " + admin}})
	var answer struct{ Link string }
	must(t, json.Unmarshal([]byte(text), &answer))
	_, code, _ := strings.Cut(answer.Link, "code=")
	for _, step := range []struct {
		note   string
		status int
		text   string
	}{{"damaged", http.StatusServiceUnavailable, code}, {"", http.StatusSeeOther, ""}} {
		must(t, store.SetNote(t.Context(), "links-used", step.note))
		response, text := do(t, r.browser(t), http.MethodPost, r.address+"/sign-in", url.Values{"code": {code}}.Encode(), form)
		if response.StatusCode != step.status || !strings.Contains(text, step.text) || (response.Header.Get("Set-Cookie") == "") !=
			(step.status == http.StatusServiceUnavailable) {
			t.Errorf("with the note %q: %s\n%s", step.note, response.Status, text)
		}
	}
}

func TestPageWithoutTokensAnswersUnderLocalNamesAlone(t *testing.T) {
	r, _, _ := paged(t)
	if response, text := do(t, http.DefaultClient, http.MethodGet, r.address+"/", "", nil); response.StatusCode != http.StatusOK ||
		!strings.Contains(text, "no access tokens") || !strings.Contains(text, "No webhook has arrived yet") {
		t.Errorf("the empty board: %s\n%s", response.Status, text)
	}
	for _, path := range []string{"/", "/api/v1/pulls", "/log"} {
		request := r.request(t, http.MethodGet, path, "", "")
		request.Host = "rebound.test"
		if a := send(t, request); a.status != http.StatusForbidden {
			t.Errorf("%s under another name: %d", path, a.status)
		}
	}
}

func TestMachinesAreSeenWithinScope(t *testing.T) {
	r, _, texts := paged(t, event.Filter{}, event.Filter{Repos: []string{"other/*"}})
	put := func(text, body string) int {
		response, _ := do(t, http.DefaultClient, http.MethodPut, r.address+"/api/v1/machines/self", body,
			http.Header{"Authorization": {"Bearer " + text}})
		return response.StatusCode
	}
	beacon := `{"role":"reviewer","login":"judge","version":"v1","work":[{"pull":"acme/app#1","act":"review","phase":"Security"}],` +
		`"queued":3,"resting":["opus"]}`
	for body, want := range map[string]int{beacon: 204, `{}`: 400, `no`: 400, `{"role":"` + strings.Repeat("x", 5000) + `"}`: 413} {
		if got := put(texts[0], body); got != want {
			t.Errorf("%.40s: %d", body, got)
		}
	}
	told := event.Beacon{Role: "author", Login: "octocat", Work: []event.Work{{Pull: "acme/app#2", Act: "fix"}}}
	if err := (&client.Client{URL: r.address, Token: texts[0]}).Announce(t.Context(), told); err != nil {
		t.Error(err)
	}
	list := func(text string) []event.Beacon {
		var all struct {
			Machines []event.Beacon `json:"machines"`
		}
		must(t, (&client.Client{URL: r.address, Token: text}).Get(t.Context(), "api/v1/machines", nil, &all))
		return all.Machines
	}
	if got := list(texts[0]); len(got) != 2 || got[0].Login != "judge" || got[0].Queued != 3 || got[0].Work[0].Pull != "acme/app#1" ||
		got[1].Work[0].Act != "fix" {
		t.Errorf("its own: %+v", got)
	}
	if got := list(texts[1]); len(got) != 0 {
		t.Errorf("another scope's: %+v", got)
	}
	forged := `{"role":"reviewer","login":"other","work":[{"pull":"acme/app#1","act":"review"},{"pull":"other/app#2","act":"review"}]}`
	if got := put(texts[1], forged); got != http.StatusNoContent {
		t.Errorf("work beyond the token's scope: %d", got)
	}
	if got := list(texts[0]); len(got) != 3 || got[1].Login != "other" || len(got[1].Work) != 1 || got[1].Work[0].Pull != "other/app#2" {
		t.Errorf("with work that another scope's token cannot know: %+v", got)
	}
	stranger := (&client.Client{URL: r.address, Token: texts[0] + "x"}).Announce(t.Context(), told)
	if refused := (*client.StatusError)(nil); !errors.As(stranger, &refused) || refused.Code != http.StatusUnauthorized ||
		refused.Reason == "" {
		t.Errorf("a wrong token: %v", stranger)
	}
}

// postGitHub sends a webhook of a type and waits until it is stored.
func (r *relay) postGitHub(t *testing.T, kind, payload string) {
	t.Helper()
	if a := send(t, examples.Request(t, r.address, secret, kind, rand.Text(), []byte(payload))); a.status != http.StatusAccepted {
		t.Fatalf("%+v", a)
	}
}

// The board has views of the viewer's pull requests and of those that wait for the viewer, by the login of
// the viewer's own agent.
func TestBoardKnowsWhoAsks(t *testing.T) {
	r, _, texts := paged(t, event.Filter{}, event.Filter{})
	for login, number := range map[string]int{"alice": 1, "bob": 2} {
		others := strings.NewReplacer(`"number":1`, fmt.Sprintf(`"number":%d`, number), `"alice"`, fmt.Sprintf("%q", login))
		r.postGitHub(t, "pull_request", others.Replace(pullPayload("acme/app", "By "+login)))
	}
	get := func(token, path string) (int, string) {
		response, text := do(t, http.DefaultClient, http.MethodGet, r.address+path, "", http.Header{"Authorization": {"Bearer " + token}})
		return response.StatusCode, text
	}
	if status, text := get(texts[0], "/api/v1/pulls?author=@me"); status != http.StatusBadRequest || !strings.Contains(text, "your login") {
		t.Errorf("before an agent was heard: %d %s", status, text)
	}
	told := event.Beacon{Role: "author", Login: "Alice"}
	must(t, (&client.Client{URL: r.address, Token: texts[0]}).Announce(t.Context(), told))
	browser := r.signIn(t, texts[0])
	_, board := do(t, browser, http.MethodGet, r.address+"/", "", nil)
	for _, link := range []string{"?author=%40me", "?waiting=%40me"} {
		if !strings.Contains(board, `href="`+link+`"`) {
			t.Errorf("the board has no link to %s", link)
		}
	}
	for _, header := range []http.Header{nil, {"Hx-Request": {"true"}}} { // at first, and when it is brought up to date
		if _, mine := do(t, browser, http.MethodGet, r.address+"/?author=%40me", "", header); !strings.Contains(mine, "By alice") ||
			strings.Contains(mine, "By bob") || !strings.Contains(mine, `href="?" aria-current="true">Mine`) {
			t.Errorf("mine, asked for with %v:\n%s", header, mine)
		}
	}
	if _, waiting := do(t, browser, http.MethodGet, r.address+"/?waiting=%40me", "", nil); strings.Contains(waiting, "By alice") ||
		strings.Contains(waiting, "By bob") {
		t.Errorf("what waits for alice, while both wait for the reviewer:\n%s", waiting)
	}
	draft := strings.Replace(pullPayload("acme/app", "By alice"), `"state":"open"`, `"state":"open","draft":true`, 1)
	r.postGitHub(t, "pull_request", draft)
	if _, waiting := do(t, browser, http.MethodGet, r.address+"/?waiting=%40me", "", nil); !strings.Contains(waiting, "By alice") ||
		strings.Contains(waiting, "By bob") {
		t.Errorf("what waits for alice, whose draft it is:\n%s", waiting)
	}
	if _, text := get(texts[1], "/"); strings.Contains(text, "%40me") {
		t.Error("another token's viewer is offered views that the relay cannot show")
	}
}

// Administrators learn from the relay's health who follows the log, and of all tokens and invitations; others learn of neither.
func TestHealthTellsAdministratorsAloneOfTokens(t *testing.T) {
	r, store, texts := paged(t, event.Filter{Repos: []string{"acme/*"}}, event.Filter{})
	admin := mint(t, store, "ops", token.Admin, event.Filter{})
	invite, _, err := token.NewInvite("alice", event.ForAuthor, event.Filter{Repos: []string{"acme/app"}}, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	must(t, token.Add(t.Context(), store, invite))
	for _, text := range []string{texts[0], texts[0], texts[1]} {
		r.token = text
		r.open(t, "", "").next()
	}
	type health struct {
		Subscribers []struct {
			Token   string
			Streams int
		}
		Tokens []struct {
			Name, Role, Scope string
			Invite            bool
			LastUsed          time.Time `json:"last_used"`
		}
	}
	ask := func(text string) (h health, err error) {
		return h, (&client.Client{URL: r.address, Token: text}).Get(t.Context(), "api/v1/health", nil, &h)
	}
	var told health
	await.Until(t, "the administrator's token to be known", func() bool { told, err = ask(admin); return err == nil })
	var all []string
	for _, s := range told.Subscribers {
		all = append(all, fmt.Sprintf("%s: %d", s.Token, s.Streams))
	}
	for _, k := range told.Tokens {
		all = append(all, fmt.Sprintf("%s %s %s, invitation %t, used %t", k.Name, k.Role, k.Scope, k.Invite, !k.LastUsed.IsZero()))
	}
	slices.Sort(all)
	want := []string{
		"alice subscriber acme/app, invitation true, used false", "browser-0 subscriber acme/*, invitation false, used true", "browser-0: 2",
		"browser-1 subscriber everything, invitation false, used true", "browser-1: 1", "ops admin everything, invitation false, used true",
	}
	if !slices.Equal(all, want) {
		t.Errorf("an administrator is told\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	if h, err := ask(texts[1]); err != nil || len(h.Subscribers)+len(h.Tokens) > 0 {
		t.Errorf("others are told %+v, %v", h, err)
	}
	_, page := do(t, r.signIn(t, texts[1]), http.MethodGet, r.address+"/health", "", nil)
	if strings.Contains(page, "browser-0") || strings.Contains(page, "alice") {
		t.Errorf("others see\n%s", page)
	}
}
