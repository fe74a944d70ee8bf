package source

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/exactjson"
	"touchstone/worktree/githubname"
)

// Grafana accepts the webhooks of Grafana Alerting's contact points
// (https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/).
// Its events have the type "alert" and the action "firing" or "resolved". They are about a repository if all
// alerts in them share a label "repository" such as acme/app.
type Grafana struct {
	// Auth is how requests prove their origin: "hmac" or "" for the contact point's HMAC signature, "basic"
	// for its user and password, "bearer" for its authorization header.
	Auth string `yaml:"auth"`
	// Secret is the HMAC secret, the password or the credentials. Without a secret every request is accepted.
	Secret string `yaml:"-"`
	// Previous is the old secret, which is accepted too while senders change over.
	Previous string `yaml:"-"`
	// User is the user name for "basic".
	User string `yaml:"user"`
	// Header is the header with the HMAC signature; "" means X-Grafana-Alerting-Signature.
	Header string `yaml:"header"`
	// TimestampHeader is the header with the time that is signed along with the body, if the contact point
	// sends one. The relay then refuses requests whose time is more than 5 minutes from its own.
	TimestampHeader string `yaml:"timestamp_header"`
}

// Validate reports settings that cannot work.
func (g Grafana) Validate() error {
	switch {
	case !g.signs() && g.Auth != "basic" && g.Auth != "bearer":
		return fmt.Errorf("auth must be hmac, basic or bearer, not %q", g.Auth)
	case g.Auth == "basic" && g.User == "":
		return errors.New("auth: basic needs a user")
	case g.Auth != "basic" && g.User != "":
		return errors.New("user applies only to auth: basic")
	case g.signs():
		return nil
	case g.Header != "" || g.TimestampHeader != "":
		return errors.New("header and timestamp_header apply only to auth: hmac")
	}
	return validatePasswords(g.Secret, g.Previous)
}

// Accept verifies a request and describes it. Its errors are like those of GitHub.Accept.
func (g Grafana) Accept(name string, header http.Header, body []byte, at time.Time) (event.Event, error) {
	if g.Secret != "" {
		if err := g.verify(header, body, at); err != nil {
			return event.Event{}, err
		}
	}
	var alert struct {
		Status       string `json:"status"`
		CommonLabels struct {
			Repository string `json:"repository"`
		} `json:"commonLabels"`
	}
	if err := exactjson.Decode(body, &alert); err != nil {
		return event.Event{}, errors.New("the body is not JSON")
	}
	e := event.Event{
		Source: name, Delivery: hashDelivery(name, body, at), Type: "alert",
		Action: bounded(alert.Status), Repo: repoName(alert.CommonLabels.Repository),
		ReceivedAt: at.UTC().Truncate(time.Millisecond),
		Headers: keep(header, func(name string) bool {
			return name == "Content-Type" || name == "User-Agent" ||
				g.TimestampHeader != "" && name == http.CanonicalHeaderKey(g.TimestampHeader)
		}),
		Payload: body,
	}
	if g.Secret != "" && g.signs() {
		// With a signed time, two alerts with the same text have different signatures.
		e.Signature, e.SignedOnce = strings.ToLower(header.Get(g.signatureHeader())), g.TimestampHeader != ""
	}
	return e, nil
}

// Prove verifies the stored signature of an event; see GitHub.Prove.
func (g Grafana) Prove(e event.Event) error {
	if g.Secret == "" || e.Signature == "" || !g.signs() {
		return ErrNoProof
	}
	header := http.Header{}
	for name, value := range e.Headers {
		header.Set(name, value)
	}
	header.Set(g.signatureHeader(), e.Signature)
	return g.verify(header, e.Payload, e.ReceivedAt)
}

// repoName returns the label if it is an owner/name, otherwise the empty string.
func repoName(label string) string {
	if !githubname.IsRepository(label) {
		return ""
	}
	return label
}

// signs reports whether requests are signed, rather than sent with the secret itself.
func (g Grafana) signs() bool { return g.Auth == "" || g.Auth == "hmac" }

func (g Grafana) signatureHeader() string { return cmp.Or(g.Header, "X-Grafana-Alerting-Signature") }

func (g Grafana) verify(header http.Header, body []byte, at time.Time) error {
	switch g.Auth {
	case "basic":
		// http.Request knows how to parse the header.
		user, password, _ := (&http.Request{Header: header}).BasicAuth()
		right := samePassword(user, g.User)
		if !believed(g.Secret, g.Previous, func(secret string) bool { return samePassword(password, secret) }) || !right {
			return fmt.Errorf("%w: the user or the password does not match the relay's", ErrUnauthorized)
		}
		return nil
	case "bearer":
		return verifyPassword(header, "Authorization", "Bearer ", g.Secret, g.Previous)
	}
	digest, err := hex.DecodeString(header.Get(g.signatureHeader()))
	if err != nil || len(digest) == 0 {
		return fmt.Errorf("%w: the header %s is missing or is not a hexadecimal number; switch on the contact point's HMAC signature",
			ErrUnauthorized, g.signatureHeader())
	}
	signed := [][]byte{body}
	if g.TimestampHeader != "" {
		seconds := header.Get(g.TimestampHeader)
		if err := checkTime(g.TimestampHeader, seconds, at); err != nil {
			return err
		}
		signed = [][]byte{[]byte(seconds + ":"), body}
	}
	if !believed(g.Secret, g.Previous, func(secret string) bool {
		return hmac.Equal(digest, sign(sha256.New, []byte(secret), signed...))
	}) {
		return fmt.Errorf("%w: the signature does not match the body; give the contact point the relay's secret and timestamp header",
			ErrUnauthorized)
	}
	return nil
}

// verifyPassword checks a secret that is sent in a header as it is, after a prefix whose case does not
// matter.
func verifyPassword(header http.Header, name, prefix, secret, previous string) error {
	value := header.Get(name)
	if len(value) < len(prefix) || !strings.EqualFold(value[:len(prefix)], prefix) {
		return fmt.Errorf("%w: the header %s is missing or does not begin with %q", ErrUnauthorized, name, prefix)
	}
	if !believed(secret, previous, func(secret string) bool { return samePassword(value[len(prefix):], secret) }) {
		return fmt.Errorf("%w: the secret in the header %s does not match the relay's", ErrUnauthorized, name)
	}
	return nil
}
