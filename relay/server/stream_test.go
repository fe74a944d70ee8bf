package server_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/storetest"
)

func TestStreamHeadAndGreeting(t *testing.T) {
	r := start(t, server.Config{})
	first := r.post(t, "a", `{}`)
	stream := r.open(t, "", "")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
	} {
		if got := stream.response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if frame := stream.next(); frame != "retry: 1000\nid: "+first+"\n" {
		t.Errorf("the greeting is %q", frame)
	}
	second := r.post(t, "b", `{}`)
	if e := stream.event(); e.ID.String() != second || e.Delivery != "b" {
		t.Errorf("got %s, delivery %s", e.ID, e.Delivery)
	}
}

func TestStreamsResumeAfterTheirCursor(t *testing.T) {
	r := start(t, server.Config{})
	var ids []string
	for i := range 5 {
		ids = append(ids, r.post(t, fmt.Sprint(i), `{}`))
	}
	for name, test := range map[string]struct {
		query, lastEventID string
		first              int
	}{
		"oldest":               {"after=oldest", "", 0},
		"cursor in the query":  {"after=" + ids[1], "", 2},
		"cursor in the header": {"", ids[2], 3},
		"the header wins":      {"after=oldest", ids[3], 4},
		"before the first":     {"after=" + strings.TrimSuffix(ids[0], "1") + "0", "", 0},
	} {
		stream := r.open(t, test.query, test.lastEventID)
		stream.next()
		for _, want := range ids[test.first:] {
			if got := stream.event().ID.String(); got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
	}
}

func TestACursorOfNoLogIsResetToTheOldestEvent(t *testing.T) {
	r := start(t, server.Config{})
	first := r.post(t, "a", `{}`)
	log := strings.TrimSuffix(first, "-1")
	for cursor, reason := range map[string]string{"00000000-17": "unknown log", log + "-99": "beyond head"} {
		stream := r.open(t, "", cursor)
		want := fmt.Sprintf("retry: 1000\nevent: relay.reset\ndata: {\"log\":%q,\"reason\":%q}\nid: %s-0\n", log, reason, log)
		if frame := stream.next(); frame != want {
			t.Errorf("%s: got %q, want %q", cursor, frame, want)
		}
		if got := stream.event().ID.String(); got != first {
			t.Errorf("%s: after the reset came %s", cursor, got)
		}
	}
}

func TestExpiredEventsAreReportedAsAGap(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "relay.db"))
	var events []event.Event
	for i := range 5 {
		e := storetest.Event(fmt.Sprint(i))
		if i == 4 {
			e.ReceivedAt = time.Now()
		}
		events = append(events, e)
	}
	if _, err := store.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if removed, err := store.Trim(t.Context(), time.Now().Add(-time.Hour)); removed != 4 || err != nil {
		t.Fatalf("trimmed %d, %v", removed, err)
	}
	r := start(t, server.Config{Store: store})
	stream := r.open(t, "after=oldest", "")
	stream.next()
	first := stream.event().ID
	if first.Seq != 5 {
		t.Errorf("the oldest is %s", first)
	}
	at := func(seq int64) event.Cursor { return event.Cursor{Log: first.Log, Seq: seq} }
	stream = r.open(t, "", at(1).String())
	stream.next()
	want := fmt.Sprintf("event: relay.gap\ndata: {\"from\":\"%s\",\"to\":\"%s\",\"reason\":\"retention\"}\nid: %s\n", at(2), at(4), at(4))
	if frame := stream.next(); frame != want {
		t.Errorf("got %q, want %q", frame, want)
	}
	if got := stream.event().ID; got != at(5) {
		t.Errorf("after the gap came %s", got)
	}
}

func TestFilterAndMoves(t *testing.T) {
	r := start(t, server.Config{Heartbeat: tick})
	stream := r.open(t, "repo=acme/*", "")
	stream.next()
	wanted := `{"repository":{"full_name":"acme/app"}}`
	other := r.post(t, "a", `{"repository":{"full_name":"other/app"}}`)
	// The filter leaves the event out, and a heartbeat says how far the log is.
	if frame := stream.message(); frame != "id: "+other+"\n" {
		t.Errorf("got %q, want a move to %s", frame, other)
	}
	mine := r.post(t, "b", wanted)
	if frame := stream.message(); !strings.HasSuffix(frame, "\nid: "+mine+"\n") {
		t.Errorf("got %q, want event %s", frame, mine)
	}
	if frame := stream.next(); frame != ": heartbeat\n" {
		t.Errorf("got %q, want a heartbeat", frame)
	}
}

func TestStreamRefused(t *testing.T) {
	r := start(t, server.Config{})
	for name, test := range map[string]struct {
		query, lastEventID, host string
		status                   int
	}{
		"malformed cursor":           {"after=17", "", "", http.StatusBadRequest},
		"malformed cursor in header": {"", "17", "", http.StatusBadRequest},
		"broken glob":                {"repo=%5B", "", "", http.StatusBadRequest},
		"semicolons for ampersands":  {"type=push;repo=acme/app", "", "", http.StatusBadRequest},
		"broken escape":              {"repo=acme/100%", "", "", http.StatusBadRequest},
		"name of a web page":         {"", "", "evil.example:80", http.StatusForbidden},
	} {
		request := r.request(t, http.MethodGet, "/events?"+test.query, "", "")
		if test.lastEventID != "" {
			request.Header.Set("Last-Event-ID", test.lastEventID)
		}
		request.Host = test.host
		if a := send(t, request); a.status != test.status || a.Error == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// tick is a heartbeat short enough to wait for.
const tick = 20 * time.Millisecond
