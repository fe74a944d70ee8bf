// Package source turns webhooks into events. It has one file for each kind of sender, which first verifies
// that the request comes from that sender and then describes its content. It stores nothing.
package source

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrUnauthorized is wrapped by errors about requests without a valid signature or secret.
var ErrUnauthorized = errors.New("unauthorized")

// maxNameLength bounds names that senders choose: event types, deliveries, repositories.
const maxNameLength = 256

// bounded returns a name, or the empty string if it is too long for one; the payload still holds it.
func bounded(name string) string {
	if len(name) > maxNameLength {
		return ""
	}
	return name
}

// deliveryID returns the sender's id for a delivery or, without one that can be printed and compared, an id
// made from the body.
func deliveryID(source, id string, body []byte, at time.Time) string {
	if id == "" || len(id) > maxNameLength || strings.ContainsFunc(id, func(r rune) bool {
		return r == utf8.RuneError ||
			!unicode.IsPrint(r)
	}) {
		return hashDelivery(source, body, at)
	}
	return id
}

// typeShape matches what may be a type. The type is written into a frame's first line, which must hold
// nothing else.
var typeShape = regexp.MustCompile(`^[A-Za-z0-9_.:/-][A-Za-z0-9_.:/ -]{0,63}$`)

// typeName returns the empty string for a text that cannot be an event's type; the payload or a header still
// holds it.
func typeName(kind string) string {
	if !typeShape.MatchString(kind) {
		return ""
	}
	return kind
}

// ErrNoProof is wrapped by errors about stored events whose signature cannot be verified: there is none, or
// the relay has not stored everything that it covers.
var ErrNoProof = errors.New("nothing proves who sent it")

// believed reports whether one of a source's secrets is right. It tries the previous secret only if there is
// one.
func believed(secret, previous string, right func(secret string) bool) bool {
	return right(secret) || previous != "" && right(previous)
}

// sign returns the HMAC of the concatenated parts.
func sign(algorithm func() hash.Hash, key []byte, parts ...[]byte) []byte {
	mac := hmac.New(algorithm, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// samePassword compares in a time that reveals neither content nor length.
func samePassword(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// minPassword is the minimum length of a secret that is sent as it is: nothing else protects it from
// guessing.
const minPassword = 16

// validatePasswords checks secrets that are sent as they are.
func validatePasswords(secrets ...string) error {
	for _, secret := range secrets {
		if secret != "" && len(secret) < minPassword {
			return fmt.Errorf("the secret has %d characters; one that is sent unhashed needs at least %d; create one with openssl rand -hex 32",
				len(secret), minPassword)
		}
	}
	return nil
}

// timeTolerance is how far a signed time may be from the relay's clock, against recorded requests that are
// sent again later.
const timeTolerance = 5 * time.Minute

// checkTime checks a header of Unix seconds that the signature covers.
func checkTime(header, seconds string, at time.Time) error {
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: the header %s is missing or is not a Unix time in seconds", ErrUnauthorized, header)
	}
	// Compare seconds: the difference of two times far apart would not fit a Duration.
	now, tolerance := at.Unix(), int64(timeTolerance/time.Second)
	if unix < now-tolerance || unix > now+tolerance {
		return fmt.Errorf("%w: the time in %s is more than %s from the relay's clock: the request is old, or one of the clocks is wrong",
			ErrUnauthorized, header, timeTolerance)
	}
	return nil
}

// hashDelivery makes a delivery id for senders that send none: the same body within the same minute counts as
// the same delivery.
func hashDelivery(source string, body []byte, at time.Time) string {
	hash := sha256.New()
	hash.Write([]byte(source + "\n" + at.UTC().Format("2006-01-02T15:04") + "\n"))
	hash.Write(body)
	return "sha256-" + hex.EncodeToString(hash.Sum(nil))
}

// keep selects the headers that say something about the webhook. Headers that may carry credentials are not
// among them.
func keep(header http.Header, wanted func(name string) bool) map[string]string {
	kept := map[string]string{}
	for name, values := range header {
		if wanted(name) && len(values) > 0 {
			kept[name] = values[0]
		}
	}
	return kept
}
