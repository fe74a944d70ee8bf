// Package rest asks the API of a simulated GitHub by hand, without the agents' client. Nothing but tests and
// demonstrations uses it.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// ByHand is the user agent of what is asked of the API by hand.
const ByHand = "by hand"

// API is the simulated GitHub's to somebody with a token who asks by hand, without an agent.
type API struct {
	URL, Token string
	// Client makes the requests; nil is http.DefaultClient.
	Client *http.Client
}

// maxAnswer bounds, in bytes, what is read of an answer.
const maxAnswer = 8 << 20

// Call makes a request of a path such as /api/v3/repos/acme/app, with a body unless in is nil, and decodes the answer
// unless out is. An answer that is none of success is an error.
func (a API) Call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.URL+path, &body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+a.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", ByHand)
	response, err := cmp.Or(a.Client, http.DefaultClient).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err == nil && response.StatusCode/100 != 2:
		err = fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(answer))
	case err == nil && out != nil:
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
