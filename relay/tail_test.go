package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/rs/zerolog"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/storetest/host"
)

func TestTailSaysThatACertificateIsNotTrusted(t *testing.T) {
	stranger := httptest.NewUnstartedServer(http.NotFoundHandler())
	stranger.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	stranger.StartTLS()
	defer stranger.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var written bytes.Buffer
	log := zerolog.New(&written)
	told := &connection{log: &log}
	follow := client.Client{URL: stranger.URL, OnState: func(s client.State) {
		told.tell(s)
		cancel()
	}}
	err := follow.Follow(ctx, client.Now, func(context.Context, event.Message) error { return nil })
	if !errors.Is(err, context.Canceled) || !strings.Contains(written.String(), "certificate is not trusted") {
		t.Errorf("%v; it said:\n%s", err, &written)
	}
}

// Settings are printed among the events for people, and cannot control a terminal.
func TestTailPrintsSettings(t *testing.T) {
	var out bytes.Buffer
	p := printer{out: &out}
	settings := event.Settings{ID: event.Cursor{Log: "q7m2x4ka", Seq: 7}, By: "ops",
		Values: map[string]string{"engine.off": "opus\x1b[2J", "engine.model": "sonnet"}}
	for _, c := range []event.Settings{settings, {ID: settings.ID, Values: map[string]string{}}} {
		must(t, p.print(t.Context(), event.Message{Settings: &c}))
	}
	want := "-- for all agents, since q7m2x4ka-7, by ops: engine.model=sonnet engine.off=opus[2J\n" +
		"-- for all agents, since q7m2x4ka-7, by someone without an access token, on an older relay: nothing is set\n"
	if out.String() != want {
		t.Errorf("it printed\n%swant\n%s", &out, want)
	}
}

func TestTailSaysOnceThatNoRelayAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", host.Own()+":0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() // nobody listens there now
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var written bytes.Buffer
	log := zerolog.New(&written)
	told, attempts := &connection{log: &log}, 0
	follow := client.Client{URL: "http://" + listener.Addr().String(), OnState: func(s client.State) {
		told.tell(s)
		if attempts++; attempts == 3 {
			cancel()
		}
	}}
	err = follow.Follow(ctx, client.Now, func(context.Context, event.Message) error { return nil })
	if !errors.Is(err, context.Canceled) || strings.Count(written.String(), "\n") != 1 ||
		!strings.Contains(written.String(), "`touchstone-relay serve`, or correct --url") {
		t.Errorf("%v after %d attempts; it said:\n%s", err, attempts, &written)
	}

	written.Reset()
	told.tell(client.State{Connected: true})
	for range 2 {
		told.tell(client.State{Err: errors.New("the relay ended the stream")})
	}
	if text := written.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "connection lost") ||
		strings.Contains(text, "--url") {
		t.Errorf("of a connection that was lost it said:\n%s", text)
	}
}

// A sender's text is printed in its own order and cannot control a terminal, for people and for programs;
// programs can restore the original text.
func TestTailPrintsWhatCannotDeceive(t *testing.T) {
	e := event.Event{ID: event.Cursor{Log: "q7m2x4ka", Seq: 1}, Source: "github", Delivery: "d", Type: "push",
		Repo: "acme/\u202eppa", Sender: "eve\u2066\u200b\x1b[2J", Payload: []byte("{\"title\":\"a\u202eb\U000e0041\"}")}
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		must(t, (printer{out: &out, json: asJSON}).print(t.Context(), event.Message{Event: &e}))
		line := strings.TrimSuffix(out.String(), "\n")
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("it printed %q", line)
		}
		var back event.Event
		if err := json.Unmarshal(out.Bytes(), &back); asJSON &&
			(err != nil || back.Repo != e.Repo || !strings.Contains(string(back.Payload), `\u202e`)) {
			t.Errorf("a program reads %+v, %v", back, err)
		}
	}
}
