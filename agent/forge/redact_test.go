package forge

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSecretsDoNotLeave(t *testing.T) {
	c := &Client{token: token{text: "our own token"}}
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
		"key in quotation": "-----BEGIN PRIVATE KEY-----\n> MIIE" + filler + "\n> " + filler + "\n> -----END PRIVATE KEY-----",
		"key in a diff":    "-----BEGIN PRIVATE KEY-----\n+\tMIIE" + filler + "\n-\t" + filler + "\n+-----END PRIVATE KEY-----",
		"key in comments":  "-----BEGIN PRIVATE KEY-----\n * MIIE" + filler + "\n // " + filler + "\n # " + filler,
		"key in a list":    "-----BEGIN PRIVATE KEY-----\",\n  \"MIIE" + filler + "\",\n  '" + filler + "',",
		"key with headers": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\nMIIE" + filler +
			"\n-----END RSA PRIVATE KEY-----",
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
	for _, text := range []string{"a sk-short and ghp_short", "task-management-of-things-and-more", "@octocat, AKIA and eyJ",
		"-----BEGIN CERTIFICATE-----\nMIIE"} {
		if got := c.outgoing(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestPasswordsOfURLsDoNotLeave(t *testing.T) {
	c := &Client{token: token{text: "our own token"}}
	for text, want := range map[string]string{
		"proxy http://u:pw@proxy:3128/ refused":           "proxy http://[redacted]@proxy:3128/ refused",
		"GOPROXY=https://:s3cr3t@go.example.com,direct":   "GOPROXY=https://[redacted]@go.example.com,direct",
		"https://example.com:8080/a@b, mona: a@b":         "https://example.com:8080/a@b, mona: a@b",
		"git@github.com:acme/app, ssh://git@example.com/": "git@github.com:acme/app, ssh://git@example.com/",
	} {
		if got := c.outgoing(text); got != want {
			t.Errorf("%q leaves as %q, want %q", text, got, want)
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
	if _, err := NewPoster(c).PostReview(t.Context(), ref,
		Review{SHA: "abc", Event: Approve, Body: secret, Comments: []ReviewComment{{Path: "a.go", Line: 1, Body: secret}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSpeaker(c).Comment(t.Context(), ref, secret); err != nil {
		t.Fatal(err)
	}
	if got := sent.String(); strings.Count(got, "see [redacted] and [redacted]") != 3 {
		t.Errorf("sent %s", got)
	}
}

func TestWhatWasClippedBeforeItWasRedacted(t *testing.T) {
	c := &Client{token: token{text: "our own token"}}
	for text, want := range map[string]string{
		"It commits ghp_0123456789ab… to main": "It commits [redacted] to main",
		"A key AKIA0123… and sk-ant-01234…":    "A key [redacted] and [redacted]",
		"Tokens begin with ghp_… or sk-…":      "Tokens begin with ghp_… or sk-…",
		"The rest is left out…":                "The rest is left out…",
	} {
		if got := c.outgoing(text); got != want {
			t.Errorf("%q leaves as %q; want %q", text, got, want)
		}
		if HoldsSecret(text) {
			t.Errorf("%q holds a secret", text)
		}
	}
}

// TestAKeyDoesNotReachTheRecord: what is taken for the rest of a key must not take a review's record with it.
func TestAKeyDoesNotReachTheRecord(t *testing.T) {
	const record = `<!-- touchstone:state v1 {"verdict":"APPROVE","claim":"-----END PRIVATE KEY-----"} -->` + "\n<!-- VERDICT:APPROVE -->"
	c := &Client{token: token{text: "our own token"}}
	if got := c.outgoing("It holds -----BEGIN PRIVATE KEY-----\n\n" + record); !strings.HasSuffix(got, record) {
		t.Errorf("what leaves is %q", got)
	}
}
