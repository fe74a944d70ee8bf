// Package examples owns GitHub's published example payloads, for tests. The file webhooks.txt says where they
// come from; scripts/refresh-webhooks updates them.
package examples

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"touchstone/relay/source/sourcetest"
)

//go:embed webhooks.jsonl.gz
var packed []byte

// Count is how many examples there are; with fewer, tests would cover less.
const Count = 329

// Example is one webhook of GitHub.
type Example struct {
	// Event is the value of the header X-GitHub-Event.
	Event string
	// Payload is the example, byte for byte as published.
	Payload []byte
}

// All returns every example, in the published order, each payload once.
func All(tb testing.TB) []Example {
	tb.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	var examples []Example
	for lines := json.NewDecoder(plain); ; {
		var line struct{ Event, Payload string }
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		examples = append(examples, Example{Event: line.Event, Payload: []byte(line.Payload)})
	}
	if len(examples) != Count {
		tb.Fatalf("there are %d examples, want %d", len(examples), Count)
	}
	// Some payloads are published more than once. Two deliveries never have the same bytes, and a relay
	// stores such bytes once.
	seen := map[string]bool{}
	examples = slices.DeleteFunc(examples, func(e Example) bool {
		again := seen[string(e.Payload)]
		seen[string(e.Payload)] = true
		return again
	})
	return examples
}

// Request returns a request that delivers a body as GitHub does, signed with secret, to the relay at an
// address such as http://127.0.0.1:8080.
func Request(tb testing.TB, address, secret, event, delivery string, body []byte) *http.Request {
	tb.Helper()
	request, err := sourcetest.Request(tb.Context(), address, secret, event, delivery, body)
	if err != nil {
		tb.Fatal(err)
	}
	return request
}

// Delivery returns the delivery id that tests use for the example at an index.
func Delivery(index int) string { return fmt.Sprintf("example-%03d", index) }
