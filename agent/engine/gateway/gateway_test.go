package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/usage"
)

const (
	key      = "sk-the-real-key"
	question = `{"model":"model-1","input":"question"}`
)

// serve runs a provider and returns its URL.
func serve(t testing.TB, provider http.HandlerFunc) string {
	t.Helper()
	upstream := httptest.NewServer(provider)
	t.Cleanup(upstream.Close)
	return upstream.URL
}

// openAt puts a gateway with the account's bounds before the provider at a URL.
func openAt(t testing.TB, url string, account *usage.Account) *gateway.Gateway {
	t.Helper()
	g, err := gateway.Open(gateway.Provider{URL: url, Key: key}, account)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// open puts a gateway without bounds before a provider.
func open(t testing.TB, provider http.HandlerFunc) *gateway.Gateway {
	t.Helper()
	return openAt(t, serve(t, provider)+"/v1", usage.Open(engine.Request{}, nil))
}

// send sends a request with some header fields, a name before each value. The end of the test closes the answer.
func send(t testing.TB, method, url, body string, header ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(header, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// ask sends a request as a CLI does, and gives the answer's status and body.
func ask(t testing.TB, g *gateway.Gateway, header, token string) (int, string) {
	t.Helper()
	response := send(t, http.MethodPost, g.URL+"/responses?a=b", question, header, token)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, "broken off"
	}
	return response.StatusCode, string(body)
}

func TestKeyTakesThePlaceOfTheToken(t *testing.T) {
	t.Parallel()
	g := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s", r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), body)
	})
	g.Begin(func() {})
	if _, got := ask(t, g, "Authorization", "Bearer "+g.Token); got != "/v1/responses?a=b Bearer "+key+"  "+question {
		t.Errorf("the provider saw %q", got)
	}
	if _, got := ask(t, g, "X-Api-Key", g.Token); got != "/v1/responses?a=b  "+key+" "+question {
		t.Errorf("the provider saw %q", got)
	}
}

// TestAKeyThatIsSentBack does not reach the CLI, in a refusal or in a header.
func TestAKeyThatIsSentBack(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		g := open(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("X-Echo", r.Header.Get("Authorization"))
			w.Header().Add("X-Echo", "and "+r.Header.Get("Authorization"))
			w.WriteHeader(status)
			if status != http.StatusOK {
				fmt.Fprintf(w, `{"error":{"message":"what is %s?"}}`, r.Header.Get("Authorization"))
			}
		})
		turn := g.Begin(func() {})
		response := send(t, http.MethodPost, g.URL+"/responses", question, "Authorization", "Bearer "+g.Token)
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if echo := response.Header.Values("X-Echo"); len(echo) != 2 || echo[0] != "Bearer "+g.Token || echo[1] != "and Bearer "+g.Token {
			t.Errorf("%d: the CLI got the headers %q", status, echo)
		}
		if refusal, refused := turn.Refused(); refused &&
			(string(body) != `{"error":{"message":"what is Bearer `+g.Token+`?"}}` || strings.Contains(refusal.Message, key)) {
			t.Errorf("the CLI got %s; the refusal is %+v", body, refusal)
		} else if refused != (status != http.StatusOK) {
			t.Errorf("%d: refused is %t", status, refused)
		}
	}
}

// TestAKeyThatCannotBeSent is told at once, and white space around it does no harm.
func TestAKeyThatCannotBeSent(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("X-Api-Key")) })
	g, err := gateway.Open(gateway.Provider{URL: url, Key: key + "\r\n"}, usage.Open(engine.Request{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	g.Begin(func() {})
	if status, got := ask(t, g, "X-Api-Key", g.Token); status != http.StatusOK || got != key {
		t.Errorf("the provider saw %q, %d", got, status)
	}
	for _, bad := range []string{" \n", "sk-a\nsk-b", "sk-\x00", "sk-ä", "sk a"} {
		if _, err := gateway.Open(gateway.Provider{URL: url, Key: bad}, usage.Open(engine.Request{}, nil)); err == nil ||
			strings.Contains(err.Error(), bad) {
			t.Errorf("with %q: %v", bad, err)
		}
	}
}

func TestRequestsWithoutTheTokenAreRefused(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	g := open(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	for header, token := range map[string]string{"Authorization": "Bearer guessed", "X-Api-Key": "", "Cookie": g.Token} {
		if status, _ := ask(t, g, header, token); status != http.StatusUnauthorized {
			t.Errorf("%s: %q was answered with %d; want 401", header, token, status)
		}
	}
	if reached.Load() {
		t.Error("the provider was reached without the token")
	}
}

func TestOnlyModelCallsAreForwarded(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	g := open(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	for _, asked := range []string{"GET /files", "DELETE /models/mine", "POST /files", "GET /responses", "PUT /messages", "POST /models",
		"POST /threads/1/messages", "POST /files/../messages", "GET /v1beta/models/m:generateContent", "POST /v1beta/models/m:embedContent",
		"POST /v1beta/models/a%2Fm:generateContent", "POST /v1beta/files/m:generateContent", "DELETE /v1beta/models/m:countTokens",
		"POST /v1generateContent", "POST /v1/countTokens"} {
		method, path, _ := strings.Cut(asked, " ")
		response := send(t, method, g.URL+path, "", "X-Api-Key", g.Token)
		if response.StatusCode != http.StatusNotFound || reached.Load() {
			t.Errorf("%s was answered with %d", asked, response.StatusCode)
		}
	}
}

// TestASessionKeepsToItsModels: those that its CLI asks for before the first answer.
func TestASessionKeepsToItsModels(t *testing.T) {
	t.Parallel()
	var asked []string
	overloaded := true
	g := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, string(body))
		if overloaded {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	turn := g.Begin(func() { t.Error("given up") })
	for _, step := range []struct {
		body, coding string
		status       int
	}{
		{`{"model":"large"}`, "", http.StatusServiceUnavailable},
		{`{"model":"small"}`, "", http.StatusOK},
		{`{"model":"large"}`, "", http.StatusOK},
		{`{"model":"dear"}`, "", http.StatusForbidden},
		{`{"model":"large","model":"dear"}`, "", http.StatusForbidden},
		{`{"model":"large"}`, "gzip", http.StatusForbidden},
		{`{"model":"large","input":"` + strings.Repeat("x", 32<<20) + `"}`, "", http.StatusForbidden},
		{`{"model":"small"}`, "identity", http.StatusOK},
	} {
		overloaded = step.status == http.StatusServiceUnavailable
		response := send(t, http.MethodPost, g.URL+"/messages", step.body, "X-Api-Key", g.Token, "Content-Encoding", step.coding)
		if response.StatusCode != step.status {
			t.Errorf("%.50s is answered with %s; want %d", step.body, response.Status, step.status)
		}
		if step.status != http.StatusForbidden {
			continue
		}
		if refusal, refused := turn.Refused(); !refused || refusal.Class() != engine.Invalid {
			t.Errorf("%.50s was refused: %v, %+v", step.body, refused, refusal)
		}
	}
	if _, refused := turn.Refused(); refused || len(asked) != 4 || strings.Contains(strings.Join(asked, ""), "dear") {
		t.Errorf("the provider was asked %d times, %.200q", len(asked), asked)
	}
}

// TestASessionKeepsToTheModelOfItsPath: the Gemini API has no other place for it.
func TestASessionKeepsToTheModelOfItsPath(t *testing.T) {
	t.Parallel()
	var asked []string
	g := open(t, func(_ http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI()+" "+r.Header.Get("X-Goog-Api-Key"))
	})
	g.Begin(func() { t.Error("given up") })
	for path, status := range map[string]int{
		"/v1beta/models/cheap:streamGenerateContent?alt=sse": http.StatusOK,
		"/v1beta/models/cheap:countTokens":                   http.StatusOK,
	} {
		if got := post(t, g, path); got != status {
			t.Errorf("%s is answered with %d; want %d", path, got, status)
		}
	}
	if got := post(t, g, "/v1beta/models/dear:generateContent"); got != http.StatusForbidden {
		t.Errorf("another model is answered with %d", got)
	}
	slices.Sort(asked)
	want := []string{"/v1/v1beta/models/cheap:countTokens " + key, "/v1/v1beta/models/cheap:streamGenerateContent?alt=sse " + key}
	if !slices.Equal(asked, want) {
		t.Errorf("the provider was asked %q", asked)
	}
}

func post(t *testing.T, g *gateway.Gateway, path string) int {
	t.Helper()
	return send(t, http.MethodPost, g.URL+path, `{"model":"ignored"}`, "X-Goog-Api-Key", g.Token).StatusCode
}

func TestProvidersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "api.openai.com/v1", "file:///etc/passwd", "http://"} {
		if _, err := gateway.Open(gateway.Provider{URL: address, Key: key}, usage.Open(engine.Request{}, nil)); err == nil {
			t.Errorf("a gateway to %q was opened", address)
		}
	}
	if _, err := gateway.Open(gateway.Provider{URL: "https://api.openai.com/v1"}, usage.Open(engine.Request{}, nil)); err == nil {
		t.Error("a gateway without a key was opened")
	}
}
