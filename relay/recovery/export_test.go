package recovery

import (
	"crypto/rsa"
	"net/http"
)

// SignedBy signs requests as an App, for tests that set its webhook up.
func SignedBy(id string, key *rsa.PrivateKey) http.RoundTripper { return appTransport{id, key} }
