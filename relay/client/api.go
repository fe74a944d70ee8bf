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
	body, err := c.do(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the relay's answer to GET /%s cannot be read: %w", path, err)
	}
	return nil
}

// Announce tells the relay what an agent does. An answer other than 204 is a *StatusError, 404 by
// one that is older than this.
func (c *Client) Announce(ctx context.Context, b event.Beacon) error {
	body, err := json.Marshal(b)
	if err == nil {
		_, err = c.do(ctx, http.MethodPut, "api/v1/machines/self", nil, body)
	}
	return err
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
	body, err := json.Marshal(map[string]string{"secret": secret})
	if err == nil {
		_, err = c.do(ctx, http.MethodPut, "api/v1/sources/"+url.PathEscape(source)+"/app-secret", nil, body)
	}
	return err
}

// do sends a request and gives the body of an answer of success.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, body []byte) ([]byte, error) {
	if err := c.Validate(""); err != nil {
		return nil, err
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	u = u.JoinPath(path)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		return nil, fmt.Errorf("ask the relay: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return nil, &StatusError{Code: response.StatusCode, Reason: reason(response.Body)}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return nil, fmt.Errorf("read the relay's answer: %w", err)
	}
	return text, nil
}
