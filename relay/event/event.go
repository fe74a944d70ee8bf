// Package event owns the relay's wire contract: what an event contains, how a position in the log is written,
// which events a subscriber asks for, and the Server-Sent Events frames that carry all of it. It stores
// nothing and imports only the standard library, so that any client may import it.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Event is one webhook as the relay stored it.
type Event struct {
	// ID is the event's position in the log.
	ID Cursor
	// Source is the name of the relay's endpoint that received the webhook, such as "github".
	Source string
	// Delivery is the sender's id for this delivery; a redelivery has the same id.
	Delivery string
	// Type is the sender's name for the kind of event, such as "pull_request".
	Type string
	// Action says what happened, such as "opened"; empty if the sender does not say.
	Action string
	// Repo is the repository as owner/name; empty if the event is about none.
	Repo string
	// Number is the number of the issue or pull request; zero if the event is about neither.
	Number int
	// Sender is the login of the account that caused the event, if the webhook names it.
	Sender string
	// ReceivedAt is when the relay received the webhook, in UTC, to the millisecond.
	ReceivedAt time.Time
	// Headers holds the webhook's own HTTP headers under their canonical names, without credentials and
	// without the signature.
	Headers map[string]string
	// Signature is the header with the sender's signature, if there was one and it was verified. It stays in
	// the store: with it, a subscriber could send the webhook again.
	Signature string
	// SignedOnce says that the sender never signs the same bytes for two webhooks, so a webhook with the same
	// Signature is a redelivery, even under another delivery id. Append uses it; events that are read do not
	// have it.
	SignedOnce bool
	// Payload is the webhook's body, byte for byte as the sender wrote it. It is nearly always JSON, but
	// readers have to be ready for any bytes.
	Payload []byte
	// JSON says that this very Payload is known to be valid JSON, which saves validating it again: half the
	// cost of sending an event. False says nothing. The field is not sent.
	JSON bool
	// Parsed is what the source read in the Payload, of a type of the relay's own, so that no reader in the
	// same process has to parse it again. It is nil for events from the store. The field is not sent.
	Parsed any
}

// RecoveredHeader is a header of events that no webhook brought: the relay fetched them from the sender
// afterwards. Their payload is the sender's but not byte for byte, and no signature comes with it. The value
// is "unsigned".
const RecoveredHeader = "X-Relay-Recovered"

// Recovered reports whether the relay fetched the event; see RecoveredHeader.
func (e Event) Recovered() bool { return e.Headers[RecoveredHeader] != "" }

// SplitSignature moves the signature out of the headers. Relays before version 0.2 stored it among them.
func (e *Event) SplitSignature() {
	for name, value := range e.Headers {
		if strings.Contains(strings.ToLower(name), "signature") {
			delete(e.Headers, name)
			e.Signature = value
		}
	}
}

// envelope is an Event on the wire; exactly one of the two payload fields is present.
type envelope struct {
	ID            Cursor            `json:"id"`
	Source        string            `json:"source"`
	Delivery      string            `json:"delivery"`
	Type          string            `json:"type"`
	Action        string            `json:"action,omitempty"`
	Repo          string            `json:"repo,omitempty"`
	Number        int               `json:"number,omitempty"`
	Sender        string            `json:"sender,omitempty"`
	ReceivedAt    time.Time         `json:"received_at"`
	Headers       map[string]string `json:"headers,omitempty"`
	Payload       json.RawMessage   `json:"payload,omitempty"`
	PayloadBase64 *[]byte           `json:"payload_base64,omitempty"`
}

// Name returns the event's name in its frame: source and type, such as "github.pull_request".
func (e Event) Name() string {
	if e.Type == "" {
		return e.Source
	}
	return e.Source + "." + e.Type
}

// AppendJSON appends the event's envelope to dst. A JSON payload is copied unchanged, line breaks included;
// json.Marshal would compact it.
func (e Event) AppendJSON(dst []byte) ([]byte, error) {
	wire := envelope{
		ID: e.ID, Source: e.Source, Delivery: e.Delivery, Type: e.Type, Action: e.Action, Repo: e.Repo,
		Number: e.Number, Sender: e.Sender, ReceivedAt: e.ReceivedAt, Headers: e.Headers,
	}
	inline := e.inlineable()
	if !inline {
		wire.PayloadBase64 = &e.Payload
	}
	head, err := json.Marshal(wire)
	if err != nil {
		return dst, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	if !inline {
		return append(dst, head...), nil
	}
	dst = slices.Grow(dst, len(head)+len(`,"payload":`)+len(e.Payload))
	dst = append(dst, head[:len(head)-1]...)
	dst = append(dst, `,"payload":`...)
	dst = append(dst, e.Payload...)
	return append(dst, '}'), nil
}

// MarshalJSON returns the envelope for encoding/json, which then compacts the payload. Use AppendJSON where
// the payload's bytes matter.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// UnmarshalJSON reads an envelope; the payload keeps its bytes.
func (e *Event) UnmarshalJSON(data []byte) error {
	var wire envelope
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*e = Event{
		ID: wire.ID, Source: wire.Source, Delivery: wire.Delivery, Type: wire.Type, Action: wire.Action, Repo: wire.Repo,
		Number: wire.Number, Sender: wire.Sender, ReceivedAt: wire.ReceivedAt, Headers: wire.Headers, Payload: wire.Payload,
	}
	if wire.PayloadBase64 != nil {
		e.Payload = *wire.PayloadBase64
	}
	return nil
}

// maxDepth is how deeply encoding/json allows JSON to be nested.
const maxDepth = 10_000

// maxInFrame leaves 1 MiB of a frame for all but the payload.
const maxInFrame = MaxFrameBytes - 1<<20

// inFrame returns how many bytes a payload takes in a frame, where "data: " begins each of its lines.
func inFrame(payload []byte) int {
	return len(payload) + len("data: ")*bytes.Count(payload, []byte("\n"))
}

// inlineable reports whether the payload can be part of the envelope and come out of it with the same bytes,
// through any reader that follows the SSE and JSON standards. That rules out what is not JSON; what is not
// UTF-8, which readers of event streams replace; a carriage return, which ends a line of a stream just as a
// line feed does; white space around the value, which an object does not preserve; so many lines that the frame
// would exceed MaxFrameBytes; and nesting that exceeds the limit together with the envelope's own level.
func (e Event) inlineable() bool {
	payload := e.Payload
	if bytes.IndexByte(payload, '\r') >= 0 || !utf8.Valid(payload) || inFrame(payload) > maxInFrame ||
		len(bytes.TrimSpace(payload)) != len(payload) || (!e.JSON || len(payload) == 0) && !json.Valid(payload) {
		return false
	}
	if bytes.Count(payload, []byte("{"))+bytes.Count(payload, []byte("[")) < maxDepth {
		return true
	}
	nested := make([]byte, 0, len(payload)+2)
	nested = append(append(append(nested, '['), payload...), ']')
	return json.Valid(nested)
}
