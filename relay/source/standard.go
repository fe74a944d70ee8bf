package source

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/exactjson"
)

// Standard accepts webhooks that follow Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), with
// symmetric signatures, version v1. An event's type is the payload's "type".
type Standard struct {
	// Secret is the key in base64, usually after "whsec_". Without a secret every request is accepted.
	Secret string `yaml:"-"`
	// Previous is the old secret, which is accepted too while senders change over.
	Previous string `yaml:"-"`
}

// Validate reports settings that cannot work.
func (s Standard) Validate() error {
	for _, secret := range []string{s.Secret, s.Previous} {
		if secret != "" && len(standardKey(secret)) == 0 {
			return errors.New("the secret does not have the form of Standard Webhooks, whsec_ and a key in base64")
		}
	}
	return nil
}

// standardKey returns the key in a secret; nil if it cannot be decoded.
func standardKey(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil
	}
	return key
}

// Accept verifies a request and describes it. Its errors are like those of GitHub.Accept.
func (s Standard) Accept(name string, header http.Header, body []byte, at time.Time) (event.Event, error) {
	if s.Secret != "" {
		if err := s.verify(header, body, at); err != nil {
			return event.Event{}, err
		}
	}
	var payload struct {
		Type string `json:"type"`
	}
	if err := exactjson.Decode(body, &payload); err != nil {
		return event.Event{}, errors.New("the body is not JSON")
	}
	e := event.Event{
		Source: name, Delivery: deliveryID(name, header.Get("Webhook-Id"), body, at), Type: typeName(payload.Type),
		ReceivedAt: at.UTC().Truncate(time.Millisecond),
		Headers: keep(header, func(name string) bool {
			return name == "Content-Type" || name == "User-Agent" || name == "Webhook-Id" || name == "Webhook-Timestamp"
		}),
		Payload: body,
	}
	if s.Secret != "" {
		e.Signature = header.Get("Webhook-Signature")
	}
	return e, nil
}

// Prove verifies the stored signature of an event; see GitHub.Prove.
func (s Standard) Prove(e event.Event) error {
	if s.Secret == "" || e.Signature == "" {
		return ErrNoProof
	}
	header := http.Header{"Webhook-Signature": {e.Signature}}
	for name, value := range e.Headers {
		header.Set(name, value)
	}
	return s.verify(header, e.Payload, e.ReceivedAt)
}

// verify checks the signature over id, time and body. A request may have several signatures, for keys that
// are being replaced and for other versions.
func (s Standard) verify(header http.Header, body []byte, at time.Time) error {
	id, seconds := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	if id == "" {
		return fmt.Errorf("%w: the header webhook-id is missing", ErrUnauthorized)
	}
	if err := checkTime("webhook-timestamp", seconds, at); err != nil {
		return err
	}
	var digests [][]byte
	for signature := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		text, found := strings.CutPrefix(signature, "v1,")
		if digest, err := base64.StdEncoding.DecodeString(text); found && err == nil {
			digests = append(digests, digest)
		}
	}
	if len(digests) == 0 {
		return fmt.Errorf(`%w: the header webhook-signature contains no "v1," with a signature in base64`, ErrUnauthorized)
	}
	if !believed(s.Secret, s.Previous, func(secret string) bool {
		want := sign(sha256.New, standardKey(secret), []byte(id+"."+seconds+"."), body)
		right := false
		for _, digest := range digests {
			right = hmac.Equal(digest, want) || right
		}
		return right
	}) {
		return fmt.Errorf("%w: no signature matches the body; give the sender and the relay the same secret", ErrUnauthorized)
	}
	return nil
}
