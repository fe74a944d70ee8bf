package forge

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

const place = "https://logs.example.com/7?sig=as-good-as-a-key"

// TestLogsAreFetchedWithoutTheToken: the token stays with GitHub, and the address of a log shows in no error.
func TestLogsAreFetchedWithoutTheToken(t *testing.T) {
	for name, test := range map[string]struct {
		to    string
		there func(*http.Request) (*http.Response, error)
		want  string
	}{
		"a log": {place, func(*http.Request) (*http.Response, error) {
			return answer(200, "\uFEFF2026-01-02T03:04:05.1234567Z one\r\n2026-01-02T03:04:06.1Z two "+secret+"\n"), nil
		}, "one\ntwo [redacted]\n"},
		"unencrypted": {"http://logs.example.com/7", nil, "unencrypted address"},
		"this host":   {"http://127.0.0.1:1/7", nil, "unencrypted address"},
		"gone":        {place, func(*http.Request) (*http.Response, error) { return answer(404, "no"), nil }, "answered 404"},
		"elsewhere": {place, func(*http.Request) (*http.Response, error) {
			return answer(302, "", "Location", "https://evil.example.com/"), nil
		}, "answered 302"},
		"no answer": {place, func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") }, "connection reset"},
		"torn": {place, func(*http.Request) (*http.Response, error) {
			r := answer(200, "")
			r.Body = io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("half a log"))))
			return r, nil
		}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, func(r *http.Request) (*http.Response, error) {
				switch r.URL.Host {
				case "api.github.com":
					return answer(302, "", "Location", test.to), nil
				case "logs.example.com":
					if r.Header.Get("Authorization") != "" || strings.Contains(r.UserAgent(), secret) {
						t.Errorf("the log's place is sent %v", r.Header)
					}
					return test.there(r)
				}
				t.Errorf("a request to %s", r.URL)
				return nil, errors.New("nobody is there")
			})
			got := c.jobLog(t.Context(), pull.Repo, 7, 1<<10)
			if !strings.Contains(got, test.want) || strings.Contains(got, "as-good-as-a-key") || strings.Contains(got, secret) {
				t.Errorf("got %q; want it to say %q", got, test.want)
			}
		})
	}
}

func TestLastBytes(t *testing.T) {
	text := strings.Repeat("0123456789", 20000)
	for _, n := range []int{0, 1, 7, 1 << 10, 32 << 10, 100 << 10, len(text), len(text) + 1} {
		got, whole, err := lastBytes(iotest.HalfReader(strings.NewReader(text)), n)
		if want := text[max(0, len(text)-n):]; err != nil || got != want || whole != (n >= len(text)) {
			t.Errorf("the last %d bytes are %d, all of it: %t, %v", n, len(got), whole, err)
		}
	}
	if got, _, err := lastBytes(endless{}, 10); err == nil || !strings.Contains(err.Error(), "longer than 256 MiB") {
		t.Errorf("of a log without end %q, %v", got, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
