package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

// maxAnswerBytes is far above any answer but a stream.
const maxAnswerBytes = 4 << 20

// ask sends a running relay a request, with the token in RELAY_TOKEN and, if there is
// any, a body in JSON, and reads its answer. What takes time takes as long as it takes.
func ask(ctx context.Context, method, relay, path string, body, answer any) error {
	base, err := url.Parse(relay)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return usageError{fmt.Errorf("%q is no relay's address; write one such as http://127.0.0.1:8080", relay)}
	}
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), &content)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("RELAY_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask the relay: %w; is it running?", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("read the relay's answer: %w", err)
	}
	var refusal struct {
		Error string `json:"error"`
	}
	err = json.Unmarshal(text, &refusal)
	switch {
	case response.StatusCode != http.StatusOK && refusal.Error != "":
		return errors.New("the relay answers: " + printable(refusal.Error))
	case response.StatusCode != http.StatusOK || err != nil:
		return fmt.Errorf("%s answers %s and is no relay, or an older one than this", request.URL.Redacted(), response.Status)
	}
	return json.Unmarshal(text, answer)
}
