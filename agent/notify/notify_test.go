package notify

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"touchstone/agent/config"
)

// TestErrorsKeepTheWebhookSecret checks that no error says where the webhook is.
func TestErrorsKeepTheWebhookSecret(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.NotFoundHandler())
	defer broken.Close()
	for name, webhook := range map[string]config.Secret{
		"refused":     config.Secret(broken.URL + "/services/hush"),
		"unreachable": "http://127.0.0.1:9/services/hush",
		"unreadable":  "http://%zz/services/hush",
	} {
		err := Send(t.Context(), webhook, "text")
		if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "notify.slack_webhook_file") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if err := Send(t.Context(), "", "text"); err != nil {
		t.Errorf("no address: %v", err)
	}
}

// TestAMessageMentionsNobody checks that a message shows what others wrote, such as the name of a check, and neither mentions
// people by it nor tells a secret.
func TestAMessageMentionsNobody(t *testing.T) {
	t.Parallel()
	var said struct{ Text string }
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
			t.Error(err)
		}
	}))
	defer hook.Close()
	err := Send(t.Context(), config.Secret(hook.URL), `the check "<!channel> & @here" fails with ghp_0123456789abcdef0123`)
	const want = "the check \"&lt;!channel&gt; &amp; @\u200bhere\" fails with [redacted]"
	if err != nil || said.Text != want {
		t.Errorf("it says %q, %v, want %q", said.Text, err, want)
	}
}
