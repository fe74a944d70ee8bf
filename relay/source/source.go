// Package source turns webhooks into events: one file for each kind of sender, which
// first verifies that the request is the sender's and then describes what it says.
// It stores nothing.
package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"
)

// ErrUnauthorized is wrapped by errors about requests that nobody vouches for.
var ErrUnauthorized = errors.New("unauthorized")

// maxNameLength bounds what senders call things: event types, deliveries, repositories.
const maxNameLength = 256

// clip empties what is too long to be a name; the payload still holds it.
func clip(name string) string {
	if len(name) > maxNameLength {
		return ""
	}
	return name
}

// hashDelivery stands in for a delivery id that the sender did not give: the same
// body within the same minute counts as the same delivery.
func hashDelivery(source string, body []byte, at time.Time) string {
	hash := sha256.New()
	hash.Write([]byte(source + "\n" + at.UTC().Format("2006-01-02T15:04") + "\n"))
	hash.Write(body)
	return "sha256-" + hex.EncodeToString(hash.Sum(nil))
}

// keep picks those of the request's headers that say something about the webhook.
// What may carry credentials is not among them.
func keep(header http.Header, wanted func(name string) bool) map[string]string {
	kept := map[string]string{}
	for name, values := range header {
		if wanted(name) && len(values) > 0 {
			kept[name] = values[0]
		}
	}
	return kept
}
