package forge

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSecretsDoNotLeave(t *testing.T) {
	c := &Client{token: "our own token"}
	const filler = "0123456789abcdefABCDEF0123456789abcdefABCDEF"
	for name, secret := range map[string]string{
		"our own":          "our own token",
		"GitHub":           "ghp_" + filler,
		"GitHub app":       "ghs_" + filler,
		"GitHub, fine":     "github_pat_" + filler,
		"relay":            "rly_a1b2_" + filler,
		"Anthropic":        "sk-ant-api03-" + filler,
		"OpenAI":           "sk-proj-" + filler,
		"Slack":            "xoxb-" + "1234567890-abcdef",
		"AWS":              "AKIA" + "ABCDEFGHIJKLMNOP",
		"Google":           "AIza" + filler[:35],
		"JSON web token":   "eyJ" + filler + ".eyJ" + filler + "." + filler,
		"private key":      "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + filler + "\n-----END RSA PRIVATE KEY-----",
		"key in JSON":      `-----BEGIN PRIVATE KEY-----\nMIIE` + filler + `\n-----END PRIVATE KEY-----`,
		"key without end":  "-----BEGIN PRIVATE KEY-----\nMIIE" + filler,
		"key cut by quote": `-----BEGIN PRIVATE KEY-----\nMIIE` + filler[:10],
	} {
		t.Run(name, func(t *testing.T) {
			got := c.outgoing("before `" + secret + "` <!-- after -->")
			if !strings.HasPrefix(got, "before `[redacted]") || !strings.HasSuffix(got, "<!-- after -->") {
				t.Errorf("what leaves is %q", got)
			}
			if strings.Contains(got, "MIIE") || strings.Contains(got, filler[:10]) {
				t.Errorf("part of it leaves: %q", got)
			}
			if other := name != "our own"; HoldsSecret("x "+secret) != other || HoldsSecret(got) {
				t.Errorf("a secret is seen: %t, and one in %q: %t", !other, got, HoldsSecret(got))
			}
		})
	}
	for _, text := range []string{"a sk-short and ghp_short", "task-management-of-things-and-more", "@octocat, AKIA and eyJ", "-----BEGIN CERTIFICATE-----\nMIIE"} {
		if got := c.outgoing(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestWhatIsPostedHoldsNoSecrets(t *testing.T) {
	var sent strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sent.Write(body)
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, `{"id":1,"body":"x"}`)
	}))
	defer server.Close()
	c, err := New(Config{APIURL: server.URL + "/", Token: "the-token-of-this-test"})
	if err != nil {
		t.Fatal(err)
	}
	ref := Ref{Repo: Repo{Owner: "acme", Name: "app"}, Number: 1}
	secret := "see ghp_0123456789abcdef0123456789 and the-token-of-this-test"
	if _, err := NewPoster(c).PostReview(t.Context(), ref, Review{SHA: "abc", Event: Approve, Body: secret, Comments: []ReviewComment{{Path: "a.go", Line: 1, Body: secret}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSpeaker(c).Comment(t.Context(), ref, secret); err != nil {
		t.Fatal(err)
	}
	if got := sent.String(); strings.Count(got, "see [redacted] and [redacted]") != 3 {
		t.Errorf("sent %s", got)
	}
}
