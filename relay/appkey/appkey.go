// Package appkey owns the private key of a GitHub App: how its file reads, and how a request is signed
// with it. It keeps no key anywhere.
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

// Parse reads a GitHub App's private key as GitHub hands it out, PEM in PKCS #1, or in PKCS #8.
// Its error says what a key looks like, and never shows the text.
func Parse(text []byte) (*rsa.PrivateKey, error) {
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

// Token is the JSON web token by which GitHub knows the App with this id, or client id
// (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app).
// It is good for a minute before and nine minutes after now: GitHub allows ten, and advises to allow for
// clocks that differ.
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
