// Package client follows a relay from a cursor and never loses its place. It owns the connection: it notices
// a dead one, makes the next, and resumes after the last processed message. It stores nothing; a caller that
// wants to resume after its own restart keeps the cursor. Only this package imports r3labs/sse.
package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/r3labs/sse/v2"
	"gopkg.in/cenkalti/backoff.v1"

	"touchstone/relay/event"
	"touchstone/worktree/pause"
)

// Places other than a cursor to begin at.
const (
	// Oldest is before the oldest event the relay still has.
	Oldest = "oldest"
	// Now is after the newest event.
	Now = "now"
)

// Client follows one relay. A Client with only a URL is ready to use.
type Client struct {
	// URL is the relay's address, such as http://127.0.0.1:8080.
	URL string
	// Token, if set, is sent as the bearer token.
	Token string
	// Filter makes the relay leave out events; the zero Filter lets everything through.
	Filter event.Filter
	// OnState, if set, is called when a connection is made or lost, in the goroutine that called Follow.
	OnState func(State)
	// IdleTimeout is how long the relay may be silent before the connection counts as dead; zero means 45 s,
	// three of the relay's heartbeats.
	IdleTimeout time.Duration
}

// State is a change of the connection.
type State struct {
	// Connected is true once the relay has begun to answer.
	Connected bool
	// Err says why the connection was lost or not made; nil if Connected.
	Err error
	// Retry is the time until the next attempt; zero if Connected.
	Retry time.Duration
}

// permanentError is an error that another attempt would not change.
type permanentError struct{ error }

// Follow reads the log from the position after on, passes every message to handle, one at a time and in order,
// and reconnects until ctx ends. The position is a cursor as event.Cursor prints it, Oldest, or Now; the empty
// string is Now. A message counts as processed, and the cursor moves past it, when handle returns nil.
//
// Follow ends with ctx's error, with handle's error, wrapped, or when the relay's answer says that another
// request is useless (400, 401 and 403).
func (c *Client) Follow(ctx context.Context, after string, handle func(context.Context, event.Message) error) error {
	if err := c.Validate(after); err != nil {
		return err
	}
	f := &follower{client: c, after: after, handle: handle}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.Multiplier, wait.MaxInterval = 200*time.Millisecond, 2, 15*time.Second
	wait.MaxElapsedTime = 0 // never give up
	for {
		progress, err := f.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if permanent := new(permanentError); errors.As(err, permanent) {
			return permanent.error
		}
		if progress {
			wait.Reset()
		}
		delay := wait.NextBackOff()
		c.report(State{Err: err, Retry: delay})
		if !pause.For(ctx, delay) {
			return ctx.Err()
		}
	}
}

// Validate reports what is wrong with the configuration or with after, before Follow begins, in sentences for
// the user who set them.
func (c *Client) Validate(after string) error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not the address of a relay; write one such as http://127.0.0.1:8080", c.URL)
	}
	if after != "" && after != Oldest && after != Now {
		if _, err := event.ParseCursor(after); err != nil {
			return fmt.Errorf("cannot follow the relay from that position: %w; or write oldest or now", err)
		}
	}
	return c.Filter.Validate()
}

func (c *Client) report(s State) {
	if c.OnState != nil {
		c.OnState(s)
	}
}

// follower is the state of one Follow: the position in the log across connections.
type follower struct {
	client *Client
	after  string // what to ask for next; a cursor once one is known
	handle func(context.Context, event.Message) error
}

// connect runs one connection to its end and reports whether it delivered a frame.
func (f *follower) connect(ctx context.Context) (progress bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	address, header, err := f.request()
	if err != nil {
		return false, permanentError{err}
	}
	stream := sse.NewClient(address, sse.ClientMaxBufferSize(event.MaxFrameBytes))
	stream.Connection = &http.Client{Transport: &transport{idle: cmp.Or(f.client.IdleTimeout, 45*time.Second), cancel: cancel}}
	// The library's own reconnecting would lose a frame that was cut off, and it gives up.
	stream.ReconnectStrategy = &backoff.StopBackOff{}
	stream.ResponseValidator = func(_ *sse.Client, r *http.Response) error { return f.validate(r) }
	stream.Headers = header
	// After a cancel, frames that are already read keep coming. They are not handled.
	err = stream.SubscribeRawWithContext(ctx, func(frame *sse.Event) {
		if ctx.Err() != nil {
			return
		}
		progress = true
		if err := f.deal(ctx, frame); err != nil {
			cancel(err)
		}
	})
	if ctx.Err() != nil {
		return progress, context.Cause(ctx)
	}
	if err == nil {
		err = errors.New("the relay ended the stream")
	}
	return progress, err
}

// request builds the request for the stream from the acknowledged position. "oldest" and "now" go into the
// query; a cursor goes into the header that a browser would use.
func (f *follower) request() (address string, header map[string]string, err error) {
	u, err := url.Parse(f.client.URL)
	if err != nil {
		return "", nil, fmt.Errorf("read the relay's address: %w", err)
	}
	query := f.client.Filter.Query()
	header = map[string]string{}
	switch f.after {
	case "":
	case Oldest, Now:
		query.Set("after", f.after)
	default:
		header["Last-Event-ID"] = f.after
	}
	if f.client.Token != "" {
		header["Authorization"] = "Bearer " + f.client.Token
	}
	u = u.JoinPath("events")
	u.RawQuery = query.Encode()
	return u.String(), header, nil
}

// validate checks the relay's answer to the request.
func (f *follower) validate(r *http.Response) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.StatusCode == http.StatusOK && kind == "text/event-stream" {
		f.client.report(State{Connected: true})
		return nil
	}
	defer r.Body.Close()
	if r.StatusCode == http.StatusOK { // such as a page to sign in
		return fmt.Errorf("%s answered with %q instead of a stream, so it is no relay's; correct the relay's address, or let the "+
			"proxy in front of it pass requests with an access token", r.Request.URL.Redacted(), kind)
	}
	err := fmt.Errorf("the relay answered %s: %s", r.Status, reason(r.Body))
	switch r.StatusCode {
	case http.StatusUnauthorized:
		return permanentError{fmt.Errorf("%w; set RELAY_TOKEN to a valid access token, or join again with a new invitation", err)}
	case http.StatusBadRequest, http.StatusForbidden:
		return permanentError{err}
	}
	return err
}

// reason returns the sentence in a refusal. The relay wraps it in JSON; a proxy in front of the relay may
// not.
func reason(body io.Reader) string {
	// A partial body is enough: it is only for the message.
	text, _ := io.ReadAll(io.LimitReader(body, 1<<10))
	var refusal struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(text, &refusal) == nil && refusal.Error != "" {
		return refusal.Error
	}
	return strings.TrimSpace(string(text))
}

// deal decodes one frame, has it handled and moves the cursor past it.
func (f *follower) deal(ctx context.Context, frame *sse.Event) error {
	message, err := event.Decode(string(frame.Event), frame.Data, string(frame.ID))
	if err != nil {
		return fmt.Errorf("the relay sent an invalid message: %w", err)
	}
	if err := f.handle(ctx, message); err != nil {
		return permanentError{fmt.Errorf("handle message %s: %w", message.Cursor, err)}
	}
	if !message.Cursor.IsZero() {
		f.after = message.Cursor.String()
	}
	return nil
}
