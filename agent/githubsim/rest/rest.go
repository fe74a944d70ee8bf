// Package rest calls the API of a simulated GitHub directly, without the agents' client. Only tests and
// demonstrations use it.
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

// ByHand is the user agent of these direct API calls.
const ByHand = "by hand"

// API is the simulated GitHub's API for a caller with a token that is not an agent.
type API struct {
	URL, Token string
	// Client makes the requests; nil is http.DefaultClient.
	Client *http.Client
}

// maxAnswer limits the part of a response that is read, in bytes.
const maxAnswer = 8 << 20

// Call makes a request to a path such as /api/v3/repos/acme/app, with a JSON body unless in is nil, and decodes
// the response unless out is nil. A status outside 2xx is an error.
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
