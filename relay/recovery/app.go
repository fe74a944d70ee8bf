package recovery

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ParseAppKey reads a GitHub App's private key as GitHub hands it out, PEM in PKCS #1,
// or in PKCS #8.
func ParseAppKey(text []byte) (*rsa.PrivateKey, error) {
	errKey := errors.New("it is no RSA private key in PEM, such as a GitHub App's settings let one download")
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errKey
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, errKey
	}
	return key, nil
}

// appTransport signs each request as a GitHub App
// (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app).
type appTransport struct {
	id  string
	key *rsa.PrivateKey
}

// RoundTrip implements http.RoundTripper.
func (t appTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.token(time.Now())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(r)
}

// token is good for a minute before and nine minutes after now: GitHub allows ten, and
// advises to allow for clocks that differ.
func (t appTransport) token(now time.Time) (string, error) {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d,"iss":"%s"}`, now.Add(-time.Minute).Unix(), now.Add(9*time.Minute).Unix(), t.id)
	signed := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode([]byte(claims))
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, t.key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign as the GitHub App: %w", err)
	}
	return signed + "." + encode(signature), nil
}
