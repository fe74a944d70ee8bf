package event

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

var sample = Event{
	ID: Cursor{Log: "q7m2x4ka", Seq: 1042}, Source: "github", Delivery: "d-1", Type: "pull_request", Action: "opened",
	Repo: "acme/app", Number: 12, Sender: "octocat", ReceivedAt: time.UnixMilli(1_700_000_000_123).UTC(),
	Headers: map[string]string{"X-Github-Event": "pull_request"}, Payload: []byte(`{"number":12}`),
}

// Clients in other languages are written against these frames.
func TestFrameOnTheWire(t *testing.T) {
	got, err := sample.AppendFrame(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "event: github.pull_request\n" +
		`data: {"id":"q7m2x4ka-1042","source":"github","delivery":"d-1","type":"pull_request","action":"opened",` +
		`"repo":"acme/app","number":12,"sender":"octocat","received_at":"2023-11-14T22:13:20.123Z",` +
		`"headers":{"X-Github-Event":"pull_request"},"payload":{"number":12}}` + "\n" +
		"id: q7m2x4ka-1042\n\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// payloads says for each payload whether it can be part of the envelope as it is.
var payloads = map[string]bool{
	`{}`:                                   true,
	`null`:                                 true,
	`0`:                                    true,
	`"<&>\u2028` + "\u2028" + `"`:          true,
	"{\n  \"a\": 1,\n\n\t\"b\":  [ 2 ]\n}": true,
	"{\n}\n":                               false, // white space behind the value
	" {}":                                  false,
	"{\"a\":\r\n1}":                        false,
	``:                                     false,
	`not JSON`:                             false,
	`{},"payload_base64":"AAAA","x":{}`:    false,
	`1}`:                                   false,
	"\"\xff\"":                             false,
	"\xef\xbb\xbf{}":                       false,
	"payload=%7B%7D":                       false,
	strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999):   true,
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000): false,
	"[" + strings.Repeat("[],", 10_000) + "[]]":               true,
}

func TestPayloadKeepsItsBytes(t *testing.T) {
	for payload, inline := range payloads {
		checkPayload(t, []byte(payload))
		if (Event{Payload: []byte(payload)}).inlineable() != inline {
			t.Errorf("payload %.40q stands in the envelope: %t, want %t", payload, !inline, inline)
		}
	}
}

func FuzzPayloadKeepsItsBytes(f *testing.F) {
	for payload := range payloads {
		f.Add([]byte(payload))
	}
	f.Fuzz(checkPayload)
}

// checkPayload sends a payload through a frame, by the rules of the SSE standard.
func checkPayload(t *testing.T, payload []byte) {
	e := sample
	e.Payload = payload
	frame, err := e.AppendFrame(nil)
	if err != nil {
		t.Fatal(err)
	}
	message := readFrame(t, frame)
	if !bytes.Equal(message.Event.Payload, payload) {
		t.Errorf("payload %.40q came back as %.40q", payload, message.Event.Payload)
	}
	got := *message.Event
	got.Payload = e.Payload
	if !reflect.DeepEqual(got, e) || message.Cursor != e.ID {
		t.Errorf("event came back as %#v", got)
	}
}

// readFrame decodes one frame as the standard says
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
func readFrame(t *testing.T, frame []byte) Message {
	t.Helper()
	text, found := strings.CutSuffix(strings.ToValidUTF8(string(frame), "\ufffd"), "\n\n")
	if !found || strings.ContainsAny(text, "\r") || strings.Contains(text, "\n\n") {
		t.Fatalf("not one frame: %.200q", frame)
	}
	var name, id string
	var data []string
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = append(data, value)
		default:
			t.Fatalf("odd line %.100q", line)
		}
	}
	if !strings.HasPrefix(text[strings.LastIndexByte(text, '\n')+1:], "id: ") {
		t.Errorf("the id is not the frame's last line")
	}
	message, err := Decode(name, []byte(strings.Join(data, "\n")), id)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// encoding/json compacts the payload, but must not change its meaning.
func TestEncodingAnEventKeepsThePayloadsMeaning(t *testing.T) {
	e := sample
	e.Payload = []byte("{\n \"a\": \"<\"\n}")
	encoded, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Event
	if err := json.Unmarshal(encoded, &back); err != nil {
		t.Fatal(err)
	}
	if string(back.Payload) != `{"a":"\u003c"}` {
		t.Errorf("payload came back as %s", back.Payload)
	}
}

func TestControlFrames(t *testing.T) {
	at := func(seq int64) Cursor { return Cursor{Log: "q7m2x4ka", Seq: seq} }
	gap := Gap{From: at(3), To: at(9), Reason: "retention"}
	frame, err := gap.AppendFrame(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "event: relay.gap\ndata: {\"from\":\"q7m2x4ka-3\",\"to\":\"q7m2x4ka-9\",\"reason\":\"retention\"}\nid: q7m2x4ka-9\n\n"
	if string(frame) != want {
		t.Errorf("got %q", frame)
	}
	if m := readFrame(t, frame); m.Gap == nil || *m.Gap != gap || m.Cursor != at(9) {
		t.Errorf("gap came back as %+v", m)
	}
	reset := Reset{Log: "q7m2x4ka", Reason: "unknown log"}
	if frame, err = reset.AppendFrame(nil, at(0)); err != nil {
		t.Fatal(err)
	}
	if m := readFrame(t, frame); m.Reset == nil || *m.Reset != reset || m.Cursor != at(0) {
		t.Errorf("reset came back as %+v", m)
	}
	if m := readFrame(t, AppendMove(nil, at(5))); m != (Message{Cursor: at(5)}) {
		t.Errorf("move came back as %+v", m)
	}
}

func TestDecodeOddities(t *testing.T) {
	for name, test := range map[string]struct {
		name, data, id string
		fails          bool
	}{
		"unknown control frame":     {"relay.future", `{"x":1}`, "q7m2x4ka-1", false},
		"retry alone":               {"", "", "", false},
		"id of another event":       {"github.push", `{"id":"q7m2x4ka-2"}`, "q7m2x4ka-1", true},
		"data that is null":         {"github.push", `null`, "q7m2x4ka-1", true},
		"data cut short":            {"github.push", `{"id":"q7m2x4ka-1","pay`, "q7m2x4ka-1", true},
		"id that is no cursor":      {"github.push", `{}`, "17", true},
		"payload not in base64":     {"github.push", `{"id":"q7m2x4ka-1","payload_base64":"*"}`, "q7m2x4ka-1", true},
		"gap with a bad cursor":     {GapName, `{"from":"x"}`, "q7m2x4ka-1", true},
		"frame without settings":    {SettingsName, `{"id":"q7m2x4ka-1"}`, "q7m2x4ka-1", true},
		"settings that are no text": {SettingsName, `{"settings":{"a":1}}`, "q7m2x4ka-1", true},
		"data without name or id":   {"", `x`, "", true},
	} {
		if _, err := Decode(test.name, []byte(test.data), test.id); (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("github.push", []byte(`{"id":"q7m2x4ka-1","payload":{"a":[1]}}`), "q7m2x4ka-1")
	f.Add(GapName, []byte(`{"from":"q7m2x4ka-1","to":"q7m2x4ka-2"}`), "q7m2x4ka-2")
	f.Add(ResetName, []byte(`{}`), "")
	f.Add(SettingsName, []byte(`{"id":"q7m2x4ka-1","settings":{"engine.off":"opus"}}`), "q7m2x4ka-2")
	f.Fuzz(func(t *testing.T, name string, data []byte, id string) {
		m, err := Decode(name, data, id)
		if err == nil && m.Event != nil && m.Event.ID != m.Cursor {
			t.Errorf("accepted an event at %s in a frame at %s", m.Event.ID, m.Cursor)
		}
	})
}

func TestParseCursor(t *testing.T) {
	for text, want := range map[string]Cursor{
		"q7m2x4ka-1042":                {Log: "q7m2x4ka", Seq: 1042},
		"00000000-0":                   {Log: "00000000"},
		"q7m2x4ka-9223372036854775807": {Log: "q7m2x4ka", Seq: 1<<63 - 1},
	} {
		got, err := ParseCursor(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "-", "q7m2x4ka", "q7m2x4ka-", "q7m2x4ka--1", "q7m2x4ka-01", "q7m2x4ka-+1", "q7m2x4ka- 1", "q7m2x4ka-1 ",
		"q7m2x4ka-9223372036854775808", "Q7M2X4KA-1", "q7m2x4k-1", "q7m2x4kab-1", "q7m2x4k\n-1", "q7m2x4ka-1-1", "12",
	} {
		if got, err := ParseCursor(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"q7m2x4ka-1042", "q7m2x4ka-0", "", "q7m2x4ka-01", "now"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCursor(text); err == nil && c.String() != text {
			t.Errorf("%q was read and is written %q", text, c)
		}
	})
}

func TestFilterMatch(t *testing.T) {
	for query, want := range map[string]bool{
		"":                                      true,
		"source=github":                         true,
		"source=grafana":                        false,
		"source=grafana&source=github":          true,
		"type=pull_request":                     true,
		"type=pull":                             false,
		"repo=acme/app":                         true,
		"repo=Acme/App":                         true,
		"repo=acme/*":                           true,
		"repo=acme":                             false,
		"repo=*":                                false,
		"repo=*/app":                            true,
		"repo=acme/a":                           false,
		"repo=other/*&repo=acme/*":              true,
		"repo=acme/*&type=push":                 false,
		"repo=acme/*&type=pull_request&after=x": true,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ParseFilter(values)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if f.Match(sample) != want {
			t.Errorf("%s: matches %t, want %t", query, !want, want)
		}
	}
	if (Filter{Repos: []string{"*"}}).Match(Event{}) {
		t.Error("a filter by repository lets through an event without one")
	}
}

func TestFilterRefuses(t *testing.T) {
	for name, f := range map[string]Filter{
		"empty value":     {Types: []string{""}},
		"long value":      {Sources: []string{strings.Repeat("a", 257)}},
		"too many values": {Repos: make([]string, 101)},
		"broken glob":     {Repos: []string{"acme/[a"}},
	} {
		if f.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, name := range []string{"repos", "Repo", "lastEventId", ""} {
		if _, err := ParseFilter(url.Values{name: {"acme/app"}}); err == nil || !strings.Contains(err.Error(), strconv.Quote(name)) {
			t.Errorf("the parameter %q: %v", name, err)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("source=github&type=push&repo=acme/*", "acme/app")
	f.Add("repo=%5B", "a/b")
	f.Add("repo=***************a/*", strings.Repeat("a", 300))
	f.Fuzz(func(t *testing.T, query, repo string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		filter, err := ParseFilter(values)
		if err != nil {
			return
		}
		again, err := ParseFilter(filter.Query())
		if err != nil {
			t.Fatalf("a filter's own query is refused: %v", err)
		}
		e := Event{Source: "github", Type: "push", Repo: repo}
		if filter.Match(e) != again.Match(e) {
			t.Error("a filter and its own query differ")
		}
	})
}

// A line of a payload takes six bytes more in a frame than in the payload, and a payload can have very many lines.
func TestNoPayloadMakesAFrameThatReadersRefuse(t *testing.T) {
	t.Parallel()
	payload := []byte("[" + strings.Repeat("1,\n", 6<<20) + "1]")
	e := Event{ID: Cursor{Log: "q7m2x4ka", Seq: 1}, Source: "ci", Payload: payload}
	frame, err := e.AppendFrame(nil)
	if err != nil || len(frame) > MaxFrameBytes {
		t.Fatalf("%d bytes of payload make a frame of %d, %v", len(payload), len(frame), err)
	}
	if m := readFrame(t, frame); m.Event == nil || !bytes.Equal(m.Event.Payload, payload) {
		t.Error("the payload came out otherwise")
	}
}
