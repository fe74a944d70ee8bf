package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// A client that hangs up while the store is read is no fault of the store, and takes no line from one that is logged once a
// minute.
func TestAClientThatHangsUpIsNotLoggedAsAFaultOfTheStore(t *testing.T) {
	var text bytes.Buffer
	s := &Server{unserved: zerolog.BurstSampler{Burst: 1, Period: time.Minute}}
	ctx := zerolog.New(&text).WithContext(t.Context())
	gone, hangUp := context.WithCancel(ctx)
	hangUp()
	for _, asked := range []struct {
		ctx context.Context
		err error
	}{{gone, context.Canceled}, {ctx, errors.New("no answer")}} {
		s.refuseReader(httptest.NewRecorder(), httptest.NewRequestWithContext(asked.ctx, http.MethodGet, "/events", nil), asked.err)
	}
	if lines := strings.Count(text.String(), "\n"); lines != 1 || !strings.Contains(text.String(), "no answer") {
		t.Errorf("the log has %d lines:\n%s", lines, &text)
	}
}
