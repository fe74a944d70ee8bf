// Package sourcetest makes webhook requests as GitHub sends them, for tests and benchmarks. It stores
// nothing.
package sourcetest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// Request returns a request that delivers a body, signed with secret, to the relay at an address such as
// http://127.0.0.1:8080.
func Request(ctx context.Context, address, secret, event, delivery string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/webhooks/github", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-GitHub-Event", event)
	request.Header.Set("X-GitHub-Delivery", delivery)
	request.Header.Set("X-Hub-Signature-256", Signature(secret, body))
	return request, nil
}

// Signature returns the value of X-Hub-Signature-256 for a body.
func Signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
