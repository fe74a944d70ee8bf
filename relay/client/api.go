package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"touchstone/relay/event"
)

// maxAnswerBytes bounds what is read of an answer of the relay's API.
const maxAnswerBytes = 16 << 20

// StatusError is a relay's refusal of a request.
type StatusError struct {
	// Code is the HTTP status. Reason is the relay's sentence, which may be empty.
	Code   int
	Reason string
}

// Error says how the relay answered.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the relay answered %d %s", e.Code, http.StatusText(e.Code))
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Get requests a path such as api/v1/pulls and decodes the JSON answer into a variable. A refusal is a
// *StatusError.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	return c.do(ctx, http.MethodGet, path, query, nil, into)
}

// Ask is Get with another method, and with body as JSON unless it is nil.
func (c *Client) Ask(ctx context.Context, method, path string, body, into any) error {
	return c.do(ctx, method, path, nil, body, into)
}

// Announce tells the relay what an agent is doing. A refusal is a *StatusError; its code is 404 if the relay
// is too old to know the request.
func (c *Client) Announce(ctx context.Context, b event.Beacon) error {
	return c.do(ctx, http.MethodPut, "api/v1/machines/self", nil, b, nil)
}

// AppSource is a source of the relay that receives the webhooks of a GitHub App.
type AppSource struct {
	Name string
	// URL is the webhook address to set in the App.
	URL string
}

// AppSources lists the sources that receive the webhooks of a GitHub App. It needs an administrator's token.
// A refusal is a *StatusError; its code is 404 if the relay is too old to know the request.
func (c *Client) AppSources(ctx context.Context) ([]AppSource, error) {
	var answer struct{ Sources []AppSource }
	err := c.Get(ctx, "api/v1/sources", nil, &answer)
	return answer.Sources, err
}

// SetAppSecret gives the relay the secret of a GitHub App's webhook. It replaces the secret that the source
// had from an earlier App. It needs an administrator's token.
func (c *Client) SetAppSecret(ctx context.Context, source, secret string) error {
	return c.do(ctx, http.MethodPut, "api/v1/sources/"+url.PathEscape(source)+"/app-secret", nil, map[string]string{"secret": secret}, nil)
}

// asker follows a redirect unless that would turn a change into a question, as 301 and 302 do
// (https://pkg.go.dev/net/http#Client): the answer to the question would pass for the answer to the change.
var asker = &http.Client{CheckRedirect: func(next *http.Request, before []*http.Request) error {
	switch {
	case next.Method != before[0].Method:
		return http.ErrUseLastResponse
	case len(before) >= maxRedirects:
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}}

// maxRedirects is how many redirects are followed, as net/http does by default.
const maxRedirects = 10

// do sends a request and decodes a successful answer into a variable, unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, body, into any) error {
	if err := c.Validate(""); err != nil {
		return err
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return err
	}
	u = u.JoinPath(path)
	u.RawQuery = query.Encode()
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, u.String(), &content)
	if err != nil {
		return err
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if method != http.MethodGet {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := asker.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		return fmt.Errorf("ask the relay: %w", err)
	}
	defer response.Body.Close()
	if to, err := response.Location(); response.StatusCode/100 == 3 && err == nil {
		address, ours := strings.CutSuffix(to.String(), "/"+path)
		if !ours { // such as a page to sign in
			return &StatusError{Code: response.StatusCode, Reason: "it leads to " + to.Redacted() + ", which is no relay's"}
		}
		return &StatusError{Code: response.StatusCode, Reason: "write " + address + " as its address"}
	}
	if response.StatusCode/100 != 2 {
		return &StatusError{Code: response.StatusCode, Reason: reason(response.Body)}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("the relay's answer to %s /%s cannot be read: %w", method, path, err)
	}
	return nil
}
