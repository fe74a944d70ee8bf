package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"touchstone/relay/event"
)

// asOfHeader has the position of the change that an open page was notified of. The answer need not be newer,
// because the page is notified of later changes too.
const asOfHeader = "Touchstone-As-Of"

// refreshes reports whether a request comes from an open page that updates its main part.
func refreshes(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("HX-Request") == "true"
}

// wanted returns the event that an answer has to include at least: the newest or, for an open page, the one
// that it was notified of.
func (d *Dashboard) wanted(r *http.Request) int64 {
	head := d.config.Relay.Head()
	if at, err := event.ParseCursor(r.Header.Get(asOfHeader)); refreshes(r) && err == nil && at.Log == head.Log {
		return min(at.Seq, head.Seq)
	}
	return head.Seq
}

// sharedLife is how old an answer may be to be sent again: pages show how long ago things happened.
const sharedLife = time.Second

// shared are the answers to open pages that update themselves. Each is rendered once for all pages with the
// same scope and address.
type shared struct {
	writing singleflight.Group

	mu      sync.Mutex
	answers map[string]sharedAnswer
}

type sharedAnswer struct {
	answer *answer
	at     int64 // the last event that it includes
	made   time.Time
}

// get returns an answer that includes the event numbered at and is not too old; nil if there is none.
func (s *shared) get(key string, at int64, now time.Time) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.answers[key]; ok && known.at >= at && now.Sub(known.made) < sharedLife {
		return known.answer
	}
	return nil
}

// put stores an answer, and removes those that are too old.
func (s *shared) put(key string, made sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.answers, func(_ string, known sharedAnswer) bool { return made.made.Sub(known.made) >= sharedLife })
	s.answers[key] = made
}

// share wraps a page that shows only the projection, so that it is rendered once for all open pages with the
// same scope and address. The page gets only those facts about the viewer that all of these viewers share.
func (d *Dashboard) share(page view) view {
	return func(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
		if !refreshes(r) {
			return page(w, r, viewer)
		}
		who, values := Viewer{Scope: viewer.Scope, asOf: viewer.asOf}, r.URL.Query()
		if len(viewer.logins) > 0 {
			who.logins = []string{me} // the page only shows that there are some
			if values.Get("author") == me || values.Get("waiting") == me {
				who.logins = viewer.logins
			}
		}
		wanted, key := d.wanted(r), fmt.Sprintf("%s %q %s %s", scopeKey(who.Scope), who.logins, r.Host, r.URL.RequestURI())
		if known := d.shared.get(key, wanted, d.now()); known != nil {
			known.send(w, r)
			return nil
		}
		// Requests for a newer answer do not wait for this one.
		made, _, _ := d.shared.writing.Do(key+" "+event.Cursor{Seq: wanted}.String(), func() (any, error) {
			if known := d.shared.get(key, wanted, d.now()); known != nil {
				return known, nil
			}
			made := sharedAnswer{at: d.config.Projection.At(), made: d.now()}
			written := recorder{header: http.Header{}}
			// Others use the answer too, so it must not end when this client hangs up.
			plain := r.Clone(context.WithoutCancel(r.Context()))
			plain.Header.Del("Accept-Encoding")
			plain.Header.Del("If-None-Match")
			d.respond(&written, plain, who, page)
			made.answer = newAnswer(written.status, written.header, written.body.Bytes())
			if written.status == http.StatusOK {
				d.shared.put(key, made)
			}
			return made.answer, nil
		})
		made.(*answer).send(w, r)
		return nil
	}
}

// recorder records an answer that is then sent to many.
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
