package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A panic in one stream ends that stream and nothing else.
func TestAFaultEndsItsStreamAlone(t *testing.T) {
	all := newConnections()
	faulty := true
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fail := faulty
		faulty = false
		all.serve(w, r, time.Minute, func(ctx context.Context, c connection) {
			if fail {
				panic("this stream")
			}
			_ = c.write(ctx, [][]byte{[]byte("hello")})
		})
	}))
	defer front.Close()
	for _, want := range []string{"", "hello"} {
		response, err := http.Get(front.URL)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || string(text) != want {
			t.Errorf("got %q, %v; want %q", text, err, want)
		}
	}
	all.drain()
}
