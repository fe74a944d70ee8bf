package recovery

import (
	"crypto/rsa"
	"net/http"
)

// SignedBy signs requests as an App, for tests that set up the App's webhook.
func SignedBy(id string, key *rsa.PrivateKey) http.RoundTripper { return appTransport{id, key} }
