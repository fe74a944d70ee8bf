package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"touchstone/worktree/pause"
)

const (
	maxAnswer      = 32 << 20         // bytes of one answer; the largest that we request is far smaller
	attemptTimeout = 40 * time.Second // one request and its answer; GitHub itself gives up after 10 s
	readTries      = 3                // attempts for a read, after 5xx or a broken connection
	longestWait    = time.Minute      // for a rate limit; a longer wait is up to the caller
	limitTries     = 3                // how many rate limits are waited for within one call
)

// transport adds what every call needs: authentication, bounds on time and size, waiting for rate limits,
// retries of reads, and a single interpretation of refusals. It returns an answer with its whole body in
// memory, or an error.
type transport struct {
	base   http.RoundTripper
	host   string // the only host that gets the token
	signer signer
	clock  *clock
}

func newTransport(cfg Config, api *url.URL) *transport {
	base := cfg.Transport
	if base == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
		own.ResponseHeaderTimeout = attemptTimeout
		base = own
	}
	t := &transport{base: base, host: api.Host, signer: token{text: cfg.Token, renew: cfg.Renew}, clock: &clock{}}
	if cfg.App != nil {
		t.signer = &installations{app: *cfg.App, api: api, base: base, clock: t.clock}
	}
	return t
}

type readKey struct{}

// asRead marks a POST that only reads, such as a GraphQL query, so that it may be repeated.
func asRead(ctx context.Context) context.Context { return context.WithValue(ctx, readKey{}, true) }

func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || req.Context().Value(readKey{}) != nil
}

// RoundTrip sends a request, several times if that is safe. A write is only repeated after GitHub refused it
// for a rate limit, which means that nothing was done, and never after an answer was lost or was a 5xx.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != t.host {
		return nil, errors.New("refusing to follow a redirect away from the configured GitHub")
	}
	tries, limits, renewed := 0, 0, false
	repo := aboutRepo(req)
	for {
		signed, err := t.signer.sign(req.Context(), repo)
		if err != nil {
			return nil, err
		}
		response, err := t.attempt(req, signed)
		var refusal *Error
		if !errors.As(err, &refusal) {
			return response, err
		}
		// A request with an unknown token has done nothing.
		if errors.Is(err, ErrUnauthorized) && !renewed && t.signer.refused(repo, signed) {
			renewed = true
			continue
		}
		wait := refusal.RetryAfter
		if errors.Is(err, ErrRateLimited) {
			if limits++; limits >= limitTries || wait > longestWait {
				return nil, err
			}
		} else {
			if tries++; !isRead(req) || !errors.Is(err, ErrUnavailable) || tries >= readTries {
				return nil, err
			}
			wait = time.Duration(tries) * (200*time.Millisecond + rand.N(400*time.Millisecond))
		}
		if !retryIn(req.Context(), wait) {
			return nil, err
		}
	}
}

// retryIn waits, and reports whether there is time left to continue. It does not start a wait that the
// context's deadline would end.
func retryIn(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !(ok && time.Until(deadline) <= d) && pause.For(ctx, d)
}

// attempt sends the request once and reads the complete answer. Refusals and network failures are returned as
// *Error.
func (t *transport) attempt(original *http.Request, signed token) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(original.Context(), attemptTimeout)
	defer cancel()
	req := original.Clone(ctx)
	if original.GetBody != nil {
		body, err := original.GetBody()
		if err != nil {
			return nil, err
		}
		req.Body = body
	}
	if signed.text != "" {
		req.Header.Set("Authorization", "Bearer "+signed.text)
	}

	response, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, signed.broken(original.Context(), err)
	}
	t.clock.set(response.Header, time.Now())
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, signed.broken(original.Context(), err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("GitHub's answer is larger than %d MiB", maxAnswer>>20)
	case response.StatusCode >= 400:
		return nil, signed.refusal(response, body, t.clock.now())
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// forgetful removes the rate limits from answers: go-github would remember them and refuse calls, while
// transport waits.
type forgetful struct{ http.RoundTripper }

// RoundTrip passes a request on.
func (f forgetful) RoundTrip(req *http.Request) (*http.Response, error) {
	response, err := f.RoundTripper.RoundTrip(req)
	if err == nil {
		for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			response.Header.Del(name)
		}
	}
	return response, err
}

// broken distinguishes a call that its caller cancelled from one that the network broke.
func (t token) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Message: "no answer: " + t.clean(err.Error()), Remedy: "check the network and github.api_url", kind: ErrUnavailable}
}

// limitedFor reads GitHub's ways to say "later": 403 or 429, with Retry-After, or with a remaining budget of
// zero and its reset time, or with neither; then the wait is a minute.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func limitedFor(response *http.Response, message string, now time.Time) (time.Duration, bool) {
	if response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	if wait, ok := toldToWait(response.Header, now); ok {
		return wait, true
	}
	secondary := strings.Contains(strings.ToLower(message), "rate limit")
	return time.Minute, secondary || response.StatusCode == http.StatusTooManyRequests
}

// toldToWait returns how long the headers of a refusal say to wait, or until a used-up budget is reset: a day at most.
func toldToWait(header http.Header, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 86400)) * time.Second, true
	}
	if header.Get("X-RateLimit-Remaining") != "0" {
		return 0, false
	}
	reset, err := strconv.ParseInt(cmp.Or(header.Get("X-RateLimit-Reset"), "0"), 10, 64)
	if err != nil || reset <= 0 {
		return time.Minute, true
	}
	return min(max(time.Unix(reset, 0).Sub(now), time.Second), 24*time.Hour), true
}
