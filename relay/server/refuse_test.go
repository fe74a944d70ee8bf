package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// A client that hangs up while the store is read is no fault of the store.
func TestAClientThatHangsUpIsNotLoggedAsAFaultOfTheStore(t *testing.T) {
	var text bytes.Buffer
	s := &Server{}
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
