package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const secret = "ghp_secret_of_this_test"

// network answers every request in memory, so that a test's clock can be the bubble's.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func client(t *testing.T, n network) *Client {
	t.Helper()
	c, err := New(Config{Token: secret, Transport: n, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	pull = Ref{Repo{"acme", "app"}, 12}
	read = func(c *Client, ctx context.Context) error {
		_, err := c.HeadSHA(ctx, pull)
		return err
	}
	query = func(c *Client, ctx context.Context) error {
		_, err := c.Viewer(ctx)
		return err
	}
	act = func(c *Client, ctx context.Context) error {
		_, err := NewMerger(c).SquashMerge(ctx, pull, SquashRequest{SHA: "abc", Title: "Add it"})
		return err
	}
)

const fine = `{"data":{"viewer":{"login":"hubot"}},"head":{"sha":"abc"},"merged":true,"sha":"def"}`

func TestOnlyHarmlessRequestsAreRepeated(t *testing.T) {
	down := func() (*http.Response, error) { return answer(502, "<html>Bad Gateway</html>"), nil }
	cut := func() (*http.Response, error) { return nil, errors.New("connection reset by peer") }
	torn := func() (*http.Response, error) {
		r := answer(200, "")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"da`), failingReader{}))
		return r, nil
	}
	limited := func(status int, header ...string) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return answer(status, `{"message":"API rate limit exceeded"}`, header...), nil
		}
	}
	for name, test := range map[string]struct {
		call  func(*Client, context.Context) error
		first []func() (*http.Response, error)
		tries int
		want  error
		waits time.Duration // at least
	}{
		"a read after 5xx":             {read, list(down), 2, nil, 0},
		"a query after 5xx":            {query, list(down, cut), 3, nil, 0},
		"a read after a torn answer":   {read, list(torn), 2, nil, 0},
		"a read that never works":      {read, list(down, down, down, down), 3, ErrUnavailable, 0},
		"no write after 5xx":           {act, list(down), 1, ErrUnavailable, 0},
		"no write after a lost answer": {act, list(cut), 1, ErrUnavailable, 0},
		"no write after a torn answer": {act, list(torn), 1, ErrUnavailable, 0},
		"a write after 429":            {act, list(limited(429, "Retry-After", "7")), 2, nil, 7 * time.Second},
		"a write after 403":            {act, list(limited(403, "Retry-After", "60")), 2, nil, time.Minute},
		"a read after an empty budget": {read, list(limited(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset",
			strconv.FormatInt(946684830, 10))), 2, nil, 30 * time.Second},
		"429 without a word":            {query, list(limited(429)), 2, nil, time.Minute},
		"a limit of more than a minute": {read, list(limited(429, "Retry-After", "61")), 1, ErrRateLimited, 0},
		"a limit that does not end": {read, list(limited(429, "Retry-After", "1"), limited(429, "Retry-After", "1"),
			limited(429, "Retry-After", "1")), 3, ErrRateLimited, 2 * time.Second},
		"403 for another reason": {read, list(func() (*http.Response, error) {
			return answer(403, `{"message":"Resource not accessible by personal access token"}`), nil
		}), 1, ErrForbidden, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				var bodies []string
				c := client(t, func(r *http.Request) (*http.Response, error) {
					if r.Body != nil {
						body, err := io.ReadAll(r.Body)
						if err != nil {
							return nil, err
						}
						bodies = append(bodies, string(body))
					}
					if tries++; tries <= len(test.first) {
						return test.first[tries-1]()
					}
					return answer(200, fine), nil
				})
				start := time.Now()
				err := test.call(c, t.Context())
				if !errors.Is(err, test.want) || tries != test.tries {
					t.Errorf("%d tries, error %v; want %d, %v", tries, err, test.tries, test.want)
				}
				if waited := time.Since(start); waited < test.waits {
					t.Errorf("waited %s; want at least %s", waited, test.waits)
				}
				for _, body := range bodies {
					if body != bodies[0] {
						t.Errorf("the second try sent %q, the first %q", body, bodies[0])
					}
				}
			})
		})
	}
}

func list[T any](items ...T) []T { return items }

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

func TestRetryAfterIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, func(*http.Request) (*http.Response, error) {
			return answer(429, `{"message":"slow down"}`, "Retry-After", "600"), nil
		})
		var failure *Error
		if err := read(c, t.Context()); !errors.As(err, &failure) || failure.RetryAfter != 10*time.Minute || failure.Status != 429 {
			t.Errorf("error %#v; want one that says 10 minutes", err)
		}
		c = client(t, func(*http.Request) (*http.Response, error) {
			reset := strconv.FormatInt(time.Now().Add(20*time.Minute).Unix(), 10)
			return answer(200, `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, "X-RateLimit-Remaining", "0",
				"X-RateLimit-Reset", reset), nil
		})
		if err := query(c, t.Context()); !errors.As(err, &failure) || failure.RetryAfter != 20*time.Minute || !errors.Is(err, ErrRateLimited) {
			t.Errorf("error %#v; want one that says 20 minutes", err)
		}
		for _, kind := range []string{`"type":"RATE_LIMITED",`, ""} {
			c = client(t, func(*http.Request) (*http.Response, error) {
				return answer(200, `{"errors":[{`+kind+`"message":"You have exceeded a secondary rate limit. Please wait."}]}`,
					"X-RateLimit-Remaining", "4999", "Retry-After", "300"), nil
			})
			if err := query(c, t.Context()); !errors.As(err, &failure) || failure.RetryAfter != 5*time.Minute || !errors.Is(err, ErrRateLimited) {
				t.Errorf("error %#v; want one that says 5 minutes", err)
			}
		}
	})
}

func TestTheContextEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, func(*http.Request) (*http.Response, error) {
			return answer(429, "", "Retry-After", "30"), nil
		})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := read(c, ctx); !errors.Is(err, ErrRateLimited) || time.Since(start) != 0 {
			t.Errorf("error %v after %s; want ErrRateLimited at once, since the time does not suffice", err, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := client(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		if err := read(c, ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second {
			t.Errorf("error %v after %s; want the deadline's after 10s", err, time.Since(start))
		}
		start = time.Now()
		if err := read(c, t.Context()); !errors.Is(err, ErrUnavailable) || time.Since(start) < readTries*attemptTimeout {
			t.Errorf("error %v after %s; want ErrUnavailable after %d tries of %s", err, time.Since(start), readTries, attemptTimeout)
		}
	})
}

func TestAnswersAreBounded(t *testing.T) {
	c := client(t, func(*http.Request) (*http.Response, error) {
		r := answer(200, "")
		r.Body = io.NopCloser(io.LimitReader(spaces{}, maxAnswer+2))
		return r, nil
	})
	if err := read(c, t.Context()); err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") {
		t.Errorf("error %v; want one about the size", err)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestTheTokenGoesNowhereElse(t *testing.T) {
	for name, hop := range map[string]network{
		"redirected": func(r *http.Request) (*http.Response, error) {
			return answer(302, "", "Location", "https://evil.example.com/"), nil
		},
		"echoed as JSON": func(r *http.Request) (*http.Response, error) {
			return answer(422, fmt.Sprintf(`{"message":"bad header %s","errors":["%s",{"message":"%[1]s"}]}`, r.Header.Get("Authorization"),
				secret)), nil
		},
		"echoed in a header": func(r *http.Request) (*http.Response, error) {
			return answer(403, `{}`, "X-Accepted-GitHub-Permissions", "needs "+secret), nil
		},
		"echoed by GraphQL": func(r *http.Request) (*http.Response, error) {
			return answer(200, `{"errors":[{"message":"`+secret+`"}]}`), nil
		},
		"echoed at the cut": func(r *http.Request) (*http.Response, error) {
			return answer(400, `{"message":"`+strings.Repeat("x", 490)+secret+`"}`), nil
		},
		"repeated by the network": func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("cannot send Bearer " + secret)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client(t, func(r *http.Request) (*http.Response, error) {
					if r.URL.Host != "api.github.com" {
						t.Errorf("a request to %s with %q", r.URL.Host, r.Header)
					}
					if r.Header.Get("Authorization") != "Bearer "+secret || r.UserAgent() != "touchstone/test" {
						t.Errorf("headers %v", r.Header)
					}
					return hop(r)
				})
				for _, call := range list(read, query, act) {
					err := call(c, t.Context())
					if err == nil {
						t.Error("no error")
						continue
					}
					if text := fmt.Sprintf("%v %#v", err, err); strings.Contains(text, secret[:12]) {
						t.Errorf("the token shows: %s", text)
					}
				}
			})
		})
	}
}

func TestAllAddressesFollowFromTheAPIs(t *testing.T) {
	for _, test := range []struct{ api, graphql, clone string }{
		{"", "https://api.github.com/graphql", "https://github.com/acme/app.git"},
		{"https://api.github.com", "https://api.github.com/graphql", "https://github.com/acme/app.git"},
		{"https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql", "https://acme.ghe.com/acme/app.git"},
		{"https://git.acme.example/api/v3/", "https://git.acme.example/api/graphql", "https://git.acme.example/acme/app.git"},
		{"https://api.acme.example/api/v3", "https://api.acme.example/api/graphql", "https://api.acme.example/acme/app.git"},
		{"http://127.0.0.1:8090", "http://127.0.0.1:8090/graphql", "http://127.0.0.1:8090/acme/app.git"},
		{"http://[::1]:8090/api/v3/", "http://[::1]:8090/api/graphql", "http://[::1]:8090/acme/app.git"},
	} {
		c, err := New(Config{APIURL: test.api, Token: "abc"})
		if err != nil {
			t.Errorf("%q: %v", test.api, err)
			continue
		}
		clone, authorization, err := c.Remote(t.Context(), pull.Repo)
		if err != nil || c.graphql != test.graphql || clone != test.clone || authorization != "Basic eC1hY2Nlc3MtdG9rZW46YWJj" {
			t.Errorf("%q: GraphQL at %s, clone from %s with %q; want %s, %s", test.api, c.graphql, clone, authorization, test.graphql, test.clone)
		}
	}
	for _, bad := range []Config{
		{APIURL: "http://git.acme.example/", Token: "abc"},
		{APIURL: "git.acme.example", Token: "abc"},
		{APIURL: "https://user:" + secret + "@git.acme.example/", Token: "abc"},
		{APIURL: "://", Token: "abc"},
		{APIURL: "https://acme.ghe.com/api/v3/", Token: "abc"},
		{Token: ""},
		{Token: secret + "\n"},
	} {
		if _, err := New(bad); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: error %v", bad.APIURL, err)
		}
	}
}
