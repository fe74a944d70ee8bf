package source_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/source"
)

// An alert from Grafana's documentation, shortened.
const grafanaAlert = `{
  "receiver": "relay", "status": "firing", "orgId": 1,
  "alerts": [{"status": "firing", "labels": {"alertname": "High memory usage", "repository": "acme/app"}, "fingerprint": "c6eadffa33fcdf37"}],
  "groupLabels": {}, "commonLabels": {"repository": "acme/app"}, "version": "1", "groupKey": "{}:{}",
  "title": "[FIRING:1]", "state": "alerting", "message": "**Firing**"
}`

func hexHMAC(secret string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(mac.Sum(nil))
}

func TestGrafanaDescribes(t *testing.T) {
	for body, want := range map[string]event.Event{
		grafanaAlert:                       {Type: "alert", Action: "firing", Repo: "acme/app"},
		`{"status":"resolved"}`:            {Type: "alert", Action: "resolved"},
		`{"status":7,"commonLabels":"no"}`: {Type: "alert"},
		`{"commonLabels":{"repository":"https://github.com/acme/app"}}`: {Type: "alert"},
		`[]`: {Type: "alert"},
	} {
		got, err := source.Grafana{}.Accept("alerts", http.Header{}, []byte(body), at)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if got.Type != want.Type || got.Action != want.Action || got.Repo != want.Repo || got.Source != "alerts" ||
			got.Delivery == "" || string(got.Payload) != body {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if _, err := (source.Grafana{}).Accept("alerts", http.Header{}, []byte(`alert!`), at); err == nil ||
		errors.Is(err, source.ErrUnauthorized) {
		t.Errorf("no JSON: %v", err)
	}
}

func TestGrafanaAuth(t *testing.T) {
	const password = "a password of some length"
	body := `{"status":"firing"}`
	now := fmt.Sprint(at.Unix())
	plain := source.Grafana{Secret: secret, Previous: "old"}
	timed := source.Grafana{Secret: secret, Header: "X-Sig", TimestampHeader: "X-Time"}
	basic := source.Grafana{Auth: "basic", User: "grafana", Secret: password, Previous: "an older one of some length"}
	bearer := source.Grafana{Auth: "bearer", Secret: password}
	user := func(name, password string) http.Header {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(name, password)
		return r.Header
	}
	const signature = "X-Grafana-Alerting-Signature"
	for name, test := range map[string]struct {
		source source.Grafana
		header http.Header
		good   bool
	}{
		"signed":                   {plain, http.Header{signature: {hexHMAC(secret, body)}}, true},
		"signed with the previous": {plain, http.Header{signature: {hexHMAC("old", body)}}, true},
		"signed with another":      {plain, http.Header{signature: {hexHMAC("new", body)}}, false},
		"another body":             {plain, http.Header{signature: {hexHMAC(secret, body+" ")}}, false},
		"unsigned":                 {plain, http.Header{}, false},
		"empty signature":          {plain, http.Header{signature: {""}}, false},
		"no hexadecimal":           {plain, http.Header{signature: {"sha256=00"}}, false},
		"timed":                    {timed, http.Header{"X-Sig": {hexHMAC(secret, now, ":", body)}, "X-Time": {now}}, true},
		"time not signed":          {timed, http.Header{"X-Sig": {hexHMAC(secret, body)}, "X-Time": {now}}, false},
		"another time":             {timed, http.Header{"X-Sig": {hexHMAC(secret, now, ":", body)}, "X-Time": {now + "0"}}, false},
		"no time":                  {timed, http.Header{"X-Sig": {hexHMAC(secret, body)}}, false},
		"password":                 {basic, user("grafana", password), true},
		"previous password":        {basic, user("grafana", "an older one of some length"), true},
		"another password":         {basic, user("grafana", "password"), false},
		"another user":             {basic, user("admin", password), false},
		"no password":              {basic, http.Header{}, false},
		"credentials":              {bearer, http.Header{"Authorization": {"Bearer " + password}}, true},
		"scheme in lower case":     {bearer, http.Header{"Authorization": {"bearer " + password}}, true},
		"other credentials":        {bearer, http.Header{"Authorization": {"Bearer x"}}, false},
		"no credentials":           {bearer, http.Header{"Authorization": {"Bearer"}}, false},
	} {
		e, err := test.source.Accept("alerts", test.header, []byte(body), at)
		if (err == nil) != test.good || err != nil && !errors.Is(err, source.ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
		checkSilent(t, name, e, err, secret, password)
	}
}

// checkSilent checks that neither an event nor an error contains a secret.
func checkSilent(t *testing.T, name string, e event.Event, err error, secrets ...string) {
	t.Helper()
	told := fmt.Sprint(e.Headers, err)
	for _, s := range secrets {
		if strings.Contains(told, s) {
			t.Errorf("%s gives a secret away: %s", name, told)
		}
	}
	if _, ok := e.Headers["Authorization"]; ok {
		t.Errorf("%s: the event holds the credentials", name)
	}
}

// Requests are valid for five minutes before and after their time, to the second.
func TestTimeTolerance(t *testing.T) {
	g := source.Grafana{Secret: secret, TimestampHeader: "X-Time"}
	for offset, good := range map[time.Duration]bool{
		0: true, 5 * time.Minute: true, -5 * time.Minute: true,
		5*time.Minute + time.Second: false, -5*time.Minute - time.Second: false,
		1 << 62: false, -1 << 62: false,
	} {
		seconds := fmt.Sprint(at.Add(offset).Unix())
		header := http.Header{"X-Time": {seconds}, "X-Grafana-Alerting-Signature": {hexHMAC(secret, seconds, ":{}")}}
		if _, err := g.Accept("alerts", header, []byte("{}"), at); (err == nil) != good {
			t.Errorf("%s off: %v", offset, err)
		}
	}
	for _, seconds := range []string{"", "now", "1.5", "-9223372036854775808", "9223372036854775807", "99999999999999999999"} {
		header := http.Header{"X-Time": {seconds}, "X-Grafana-Alerting-Signature": {hexHMAC(secret, seconds, ":{}")}}
		if _, err := g.Accept("alerts", header, []byte("{}"), at); !errors.Is(err, source.ErrUnauthorized) {
			t.Errorf("the time %q: %v", seconds, err)
		}
	}
}

func TestGrafanaSettings(t *testing.T) {
	for _, wrong := range []source.Grafana{
		{Auth: "digest"},
		{Auth: "basic", Secret: "a password of some length"},
		{Auth: "basic", User: "a", Secret: "short"},
		{Auth: "bearer", Secret: "a password of some length", Previous: "short"},
		{Auth: "bearer", User: "a"},
		{Auth: "bearer", TimestampHeader: "X-Time"},
		{User: "a"},
	} {
		if err := wrong.Validate(); err == nil {
			t.Errorf("%+v is valid", wrong)
		}
	}
	for _, right := range []source.Grafana{
		{Secret: "short"},
		{Auth: "hmac", Header: "X-Sig", TimestampHeader: "X-Time", Secret: "short"},
		{Auth: "basic", User: "a", Secret: "a password of some length"},
		{Auth: "bearer"},
	} {
		if err := right.Validate(); err != nil {
			t.Errorf("%+v: %v", right, err)
		}
	}
}

func FuzzGrafana(f *testing.F) {
	for _, seed := range []string{grafanaAlert, `{"status":{}}`, `{"commonLabels":{"repository":7}}`, `null`, ``} {
		f.Add([]byte(seed), hexHMAC(secret, seed), fmt.Sprint(at.Unix()))
	}
	g := source.Grafana{Secret: secret, TimestampHeader: "X-Time"}
	f.Fuzz(func(t *testing.T, body []byte, signature, seconds string) {
		header := http.Header{"X-Grafana-Alerting-Signature": {signature}, "X-Time": {seconds}}
		_, err := g.Accept("alerts", header, body, at)
		if err == nil && !strings.EqualFold(signature, hexHMAC(secret, seconds, ":", string(body))) {
			t.Errorf("%q was accepted with the signature %q", body, signature)
		}
		if e, err := (source.Grafana{}).Accept("alerts", header, body, at); err == nil && strings.ContainsAny(e.Name()+e.Repo, "\r\n") {
			t.Errorf("%q is described as %q of %q", body, e.Name(), e.Repo)
		}
	})
}
