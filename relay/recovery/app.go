package recovery

import (
	"crypto/rsa"
	"net/http"
	"time"

	"touchstone/relay/appkey"
)

// appTransport signs each request as a GitHub App.
type appTransport struct {
	id  string
	key *rsa.PrivateKey
}

// RoundTrip implements http.RoundTripper.
func (t appTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := appkey.Token(t.id, t.key, time.Now())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(r)
}
