package notify

import (
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
