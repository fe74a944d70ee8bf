// Package appkey owns the private key of a GitHub App: how its file is read, and how a request is signed with
// it. It stores no key.
package appkey

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
	"time"
)

// Parse reads a GitHub App's private key: PEM in PKCS #1, as GitHub hands it out, or in PKCS #8. The error
// says what a key looks like, and never shows the text.
func Parse(text []byte) (*rsa.PrivateKey, error) {
	errKey := errors.New("not an RSA private key in PEM format; download one from the GitHub App's settings")
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

// Token returns the JSON web token by which GitHub knows the App with this id or client id
// (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app).
// It is valid from a minute before now to nine minutes after now: GitHub allows ten minutes, and advises to
// allow for clock drift.
func Token(app string, key *rsa.PrivateKey, now time.Time) (string, error) {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d,"iss":"%s"}`, now.Add(-time.Minute).Unix(), now.Add(9*time.Minute).Unix(), app)
	signed := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode([]byte(claims))
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign as the GitHub App: %w", err)
	}
	return signed + "." + encode(signature), nil
}
