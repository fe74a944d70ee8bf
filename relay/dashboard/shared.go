package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"touchstone/relay/event"
)

// asOfHeader is how an open page says which change it was told of: what it is sent need not be
// newer, and it is told of what comes later.
const asOfHeader = "Touchstone-As-Of"

// refreshes reports whether a request is an open page's that brings its main part up to date.
func refreshes(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("HX-Request") == "true"
}

// wanted is the event that an answer has to take in at least: the newest, or for an open page the
// one that it was told of.
func (d *Dashboard) wanted(r *http.Request) int64 {
	head := d.config.Relay.Head()
	if at, err := event.ParseCursor(r.Header.Get(asOfHeader)); refreshes(r) && err == nil && at.Log == head.Log {
		return min(at.Seq, head.Seq)
	}
	return head.Seq
}

// sharedLife is how old an answer may be that is sent again: it shows how long ago things happened.
const sharedLife = time.Second

// shared are the answers to open pages that bring themselves up to date, each written once for all
// pages with the same scope and address.
type shared struct {
	writing singleflight.Group

	mu      sync.Mutex
	answers map[string]sharedAnswer
}

type sharedAnswer struct {
	answer *answer
	at     int64 // the last event that it takes in
	made   time.Time
}

// get is the answer that is there, takes in the event numbered at and is not too old; nil if none is.
func (s *shared) get(key string, at int64, now time.Time) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.answers[key]; ok && known.at >= at && now.Sub(known.made) < sharedLife {
		return known.answer
	}
	return nil
}

// put keeps an answer, and forgets those that are too old.
func (s *shared) put(key string, made sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, known := range s.answers {
		if made.made.Sub(known.made) >= sharedLife {
			delete(s.answers, other)
		}
	}
	s.answers[key] = made
}

// share makes a page that shows the projection alone one that is written once for all open pages with
// the same scope and address. It is told nothing of the viewer that others do not share.
func (d *Dashboard) share(page view) view {
	return func(w http.ResponseWriter, r *http.Request, viewer Viewer) {
		if !refreshes(r) {
			page(w, r, viewer)
			return
		}
		who, values := Viewer{Scope: viewer.Scope}, r.URL.Query()
		if len(viewer.logins) > 0 {
			who.logins = []string{me} // that there are some is all that shows
			if values.Get("author") == me || values.Get("waiting") == me {
				who.logins = viewer.logins
			}
		}
		wanted, key := d.wanted(r), fmt.Sprintf("%s %q %s %s", scopeKey(who.Scope), who.logins, r.Host, r.URL.RequestURI())
		if known := d.shared.get(key, wanted, d.now()); known != nil {
			known.send(w, r)
			return
		}
		// Those that want a newer one do not wait for this.
		made, _, _ := d.shared.writing.Do(key+" "+event.Cursor{Seq: wanted}.String(), func() (any, error) {
			if known := d.shared.get(key, wanted, d.now()); known != nil {
				return known, nil
			}
			made := sharedAnswer{at: d.config.Projection.At(), made: d.now()}
			written := recorder{header: http.Header{}}
			// It is for others too: that one of them hangs up does not end it.
			plain := r.Clone(context.WithoutCancel(r.Context()))
			plain.Header.Del("Accept-Encoding")
			plain.Header.Del("If-None-Match")
			page(&written, plain, who)
			made.answer = newAnswer(written.status, written.header, written.body.Bytes())
			if written.status == http.StatusOK {
				d.shared.put(key, made)
			}
			return made.answer, nil
		})
		made.(*answer).send(w, r)
	}
}

// recorder takes an answer that is then sent to many.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(text []byte) (int, error) { return r.body.Write(text) }
