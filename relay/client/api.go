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

	"touchstone/relay/event"
)

// maxAnswerBytes bounds what is read of an answer of the relay's API.
const maxAnswerBytes = 16 << 20

// StatusError is a relay's refusal of a request.
type StatusError struct {
	// Code is the HTTP status, Reason the relay's sentence; it may be empty.
	Code   int
	Reason string
}

// Error says how the relay answered.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the relay answers %d %s", e.Code, http.StatusText(e.Code))
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Get asks the relay for a path such as api/v1/pulls and decodes its JSON into a variable. An
// answer other than 200 is a *StatusError.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	return c.do(ctx, http.MethodGet, path, query, nil, into)
}

// Ask is Get by another method, with a body in JSON unless that is nil.
func (c *Client) Ask(ctx context.Context, method, path string, body, into any) error {
	return c.do(ctx, method, path, nil, body, into)
}

// Announce tells the relay what an agent does. An answer other than 204 is a *StatusError, 404 by
// one that is older than this.
func (c *Client) Announce(ctx context.Context, b event.Beacon) error {
	return c.do(ctx, http.MethodPut, "api/v1/machines/self", nil, b, nil)
}

// AppSource is a source of the relay's that takes what a GitHub App sends.
type AppSource struct {
	Name string
	// URL is where the App's webhook leads.
	URL string
}

// AppSources lists the sources that take what a GitHub App sends. It takes an administrator's token; any other
// is a *StatusError, as is a relay that is older than this, 404.
func (c *Client) AppSources(ctx context.Context) ([]AppSource, error) {
	var answer struct{ Sources []AppSource }
	err := c.Get(ctx, "api/v1/sources", nil, &answer)
	return answer.Sources, err
}

// SetAppSecret gives the relay the secret of a GitHub App's webhook, in place of the one that the source had
// from an App before. It takes an administrator's token.
func (c *Client) SetAppSecret(ctx context.Context, source, secret string) error {
	return c.do(ctx, http.MethodPut, "api/v1/sources/"+url.PathEscape(source)+"/app-secret", nil, map[string]string{"secret": secret}, nil)
}

// do sends a request and decodes an answer of success, unless there is nothing to decode it into.
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
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		return fmt.Errorf("ask the relay: %w", err)
	}
	defer response.Body.Close()
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
