package source

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/payload"
)

// GitHub accepts the webhooks of GitHub and GitHub Enterprise Server
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
type GitHub struct {
	// Secret is the webhook's secret. Without a secret every request is accepted.
	Secret string `yaml:"-"`
	// Previous is the old secret, which is accepted too while senders change over.
	Previous string `yaml:"-"`
	// App is the secret of a GitHub App's webhook, which is accepted too; empty for none. It is used only if
	// Secret is set.
	App string `yaml:"-"`
}

// Accept verifies the signature over the body's bytes and describes the request. Its errors are sentences for
// the sender; an error about the signature wraps ErrUnauthorized. The event's payload is the JSON that GitHub
// wrote, whether it came as the body or in the form field "payload".
func (g GitHub) Accept(name string, header http.Header, body []byte, at time.Time) (event.Event, error) {
	if err := g.verify(header.Get("X-Hub-Signature-256"), body); err != nil {
		return event.Event{}, err
	}
	kind := header.Get("X-GitHub-Event")
	if typeName(kind) == "" {
		return event.Event{}, errors.New("the header X-GitHub-Event is missing or is not the name of an event")
	}
	text, err := githubPayload(header.Get("Content-Type"), body)
	if err != nil {
		return event.Event{}, err
	}
	e := event.Event{
		Source: name, Delivery: deliveryID(name, header.Get("X-GitHub-Delivery"), body, at), Type: kind,
		ReceivedAt: at.UTC().Truncate(time.Millisecond),
		Headers:    keep(header, githubHeader),
		Payload:    text,
	}
	if g.Secret != "" {
		// GitHub's payloads contain times and ids, and a redelivery keeps its delivery's id.
		e.Signature, e.SignedOnce = strings.ToLower(header.Get("X-Hub-Signature-256")), true
	}
	if !describe(&e) {
		return event.Event{}, errors.New("the payload is not JSON")
	}
	return e, nil
}

// verify checks the signature in the way that GitHub asks for
// (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries).
func (g GitHub) verify(signature string, body []byte) error {
	if g.Secret == "" {
		return nil
	}
	if signature == "" {
		return fmt.Errorf("%w: the header X-Hub-Signature-256 is missing; set the relay's secret in the webhook's settings", ErrUnauthorized)
	}
	digest, found := strings.CutPrefix(signature, "sha256=")
	got, err := hex.DecodeString(digest)
	if !found || err != nil {
		return fmt.Errorf(`%w: the header X-Hub-Signature-256 is not "sha256=" followed by a hexadecimal number`, ErrUnauthorized)
	}
	right := func(secret string) bool { return hmac.Equal(got, sign(sha256.New, []byte(secret), body)) }
	if !believed(g.Secret, g.Previous, right) && (g.App == "" || !right(g.App)) {
		return fmt.Errorf("%w: the signature does not match the body; give the webhook and the relay the same secret", ErrUnauthorized)
	}
	return nil
}

func githubHeader(name string) bool {
	return name == "Content-Type" || name == "User-Agent" || strings.HasPrefix(name, "X-Github-")
}

// Prove verifies the stored signature of an event. Its error says that the signature does not match, or wraps
// ErrNoProof, as for a form, of which the relay stores only the payload.
func (g GitHub) Prove(e event.Event) error {
	mediaType, _, _ := mime.ParseMediaType(e.Headers["Content-Type"])
	if g.Secret == "" || e.Signature == "" || mediaType == "application/x-www-form-urlencoded" {
		return ErrNoProof
	}
	return g.verify(e.Signature, e.Payload)
}

// githubPayload returns the part of a body that should be JSON, for either of the two content types that
// GitHub offers. A body of any other type is taken as JSON.
func githubPayload(contentType string, body []byte) ([]byte, error) {
	if mediaType, _, _ := mime.ParseMediaType(contentType); mediaType == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, errors.New("the body is not a valid form")
		}
		if len(form["payload"]) != 1 {
			return nil, errors.New("the form must contain the field payload exactly once")
		}
		return []byte(form.Get("payload")), nil
	}
	return body, nil
}

// describe fills in what a payload of GitHub's shape says about itself, and reports whether it is JSON. A
// payload of another shape gets fewer fields.
func describe(e *event.Event) bool {
	p, err := payload.Read(e.Payload)
	if err != nil {
		return false
	}
	e.JSON, e.Parsed = true, p
	e.Action = bounded(p.Action)
	e.Repo = bounded(p.Repository.FullName)
	e.Sender = bounded(p.Sender.Login)
	e.Number = p.About()
	return true
}

// Validate reports settings that cannot work; there are none.
func (g GitHub) Validate() error { return nil }
