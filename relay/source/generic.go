package source

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strings"
	"time"

	"touchstone/relay/event"
)

// Generic accepts webhooks whose sender puts a signature of the body, or a secret, into a header of its own.
// A JSON payload of GitHub's shape, which Gitea and Forgejo send too, is described like GitHub's; any other
// body is not described.
type Generic struct {
	// Auth is how requests prove their origin: "hmac" or "" for a signature over the body, "bearer" for the
	// secret itself.
	Auth string `yaml:"auth"`
	// Secret is what the sender signs with, or sends. Without a secret every request is accepted.
	Secret string `yaml:"-"`
	// Previous is the old secret, which is accepted too while senders change over.
	Previous string `yaml:"-"`
	// Header is the header with the signature or the secret. For "bearer" the default is Authorization.
	Header string `yaml:"header"`
	// Prefix stands before the signature or the secret, such as "sha256=". For Authorization the default is
	// "Bearer ".
	Prefix string `yaml:"prefix"`
	// Encoding is the encoding of the signature: "hex" or "" for hexadecimal, or "base64".
	Encoding string `yaml:"encoding"`
	// Hash is the hash function of the signature: "sha256" or "", or "sha512".
	Hash string `yaml:"hash"`
	// TypeHeader and DeliveryHeader are the headers with the event's type and the delivery's id, if the
	// sender sends them.
	TypeHeader     string `yaml:"type_header"`
	DeliveryHeader string `yaml:"delivery_header"`
}

// Validate reports settings that cannot work.
func (g Generic) Validate() error {
	switch g.Auth {
	case "", "hmac":
		if g.Header == "" && g.Secret != "" {
			return errors.New("auth: hmac needs the header that contains the signature, such as header: X-Signature-256")
		}
		if g.Encoding != "" && g.Encoding != "hex" && g.Encoding != "base64" {
			return fmt.Errorf("encoding must be hex or base64, not %q", g.Encoding)
		}
		if g.Hash != "" && g.Hash != "sha256" && g.Hash != "sha512" {
			return fmt.Errorf("hash must be sha256 or sha512, not %q", g.Hash)
		}
	case "bearer":
		if g.Encoding != "" || g.Hash != "" {
			return errors.New("encoding and hash apply only to auth: hmac")
		}
		if err := validatePasswords(g.Secret, g.Previous); err != nil {
			return err
		}
	default:
		return fmt.Errorf("auth must be hmac or bearer, not %q", g.Auth)
	}
	for _, told := range []string{g.TypeHeader, g.DeliveryHeader} {
		if name := http.CanonicalHeaderKey(told); name == "Authorization" || name == "Cookie" ||
			g.Auth == "bearer" && told != "" && name == http.CanonicalHeaderKey(g.Header) {
			return fmt.Errorf("the header %s can contain a secret, so it cannot be the type or the delivery; choose another header", told)
		}
	}
	return nil
}

// Accept verifies a request and describes it. Its errors are like those of GitHub.Accept.
func (g Generic) Accept(name string, header http.Header, body []byte, at time.Time) (event.Event, error) {
	if g.Secret != "" {
		if err := g.verify(header, body); err != nil {
			return event.Event{}, err
		}
	}
	e := event.Event{
		Source: name, Delivery: deliveryID(name, header.Get(g.DeliveryHeader), body, at), Type: typeName(header.Get(g.TypeHeader)),
		ReceivedAt: at.UTC().Truncate(time.Millisecond),
		Headers:    keep(header, g.keeps),
		Payload:    body,
	}
	if g.Secret != "" && g.Auth != "bearer" {
		e.Signature = header.Get(g.Header)
	}
	describe(&e)
	return e, nil
}

// keeps selects headers without a secret.
func (g Generic) keeps(name string) bool {
	for _, header := range []string{"Content-Type", "User-Agent", g.TypeHeader, g.DeliveryHeader} {
		if name == http.CanonicalHeaderKey(header) {
			return g.Header == "" || name != http.CanonicalHeaderKey(g.Header)
		}
	}
	return false
}

// Prove verifies the stored signature of an event; see GitHub.Prove.
func (g Generic) Prove(e event.Event) error {
	if g.Secret == "" || e.Signature == "" || g.Auth == "bearer" {
		return ErrNoProof
	}
	return g.verify(http.Header{http.CanonicalHeaderKey(g.Header): {e.Signature}}, e.Payload)
}

func (g Generic) verify(header http.Header, body []byte) error {
	if g.Auth == "bearer" {
		name, prefix := cmp.Or(g.Header, "Authorization"), g.Prefix
		if prefix == "" && http.CanonicalHeaderKey(name) == "Authorization" {
			prefix = "Bearer "
		}
		return verifyPassword(header, name, prefix, g.Secret, g.Previous)
	}
	text, found := strings.CutPrefix(header.Get(g.Header), g.Prefix)
	decode := hex.DecodeString
	if g.Encoding == "base64" {
		decode = base64.StdEncoding.DecodeString
	}
	digest, err := decode(text)
	if !found || err != nil || len(digest) == 0 {
		return fmt.Errorf("%w: the header %s is missing or is not a signature in the configured format", ErrUnauthorized, g.Header)
	}
	if !believed(g.Secret, g.Previous, func(secret string) bool {
		return hmac.Equal(digest, sign(g.algorithm(), []byte(secret), body))
	}) {
		return fmt.Errorf("%w: the signature in %s does not match the body; give the sender and the relay the same secret",
			ErrUnauthorized, g.Header)
	}
	return nil
}

func (g Generic) algorithm() func() hash.Hash {
	if g.Hash == "sha512" {
		return sha512.New
	}
	return sha256.New
}
