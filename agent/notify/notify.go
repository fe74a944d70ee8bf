// Package notify sends people messages through a Slack-compatible webhook. The label on the pull request is the
// queue, so a lost message loses nothing.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
)

// plain makes a text show as it is: Slack reads mentions and links between angle brackets
// (https://docs.slack.dev/messaging/formatting-message-text#escaping), and compatible services read mentions after an @.
var plain = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@\u200b")

// Send posts one text, which mentions nobody and from which it removes what looks like a secret: others wrote parts of it, such
// as the name of a check. Argument webhook is a secret, since it alone allows posting; if it is empty, nothing is
// sent.
func Send(ctx context.Context, webhook config.Secret, text string) error {
	if webhook == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]string{"text": plain.Replace(forge.Redact(text))})
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	// The errors of net/http contain the URL, so they must not be returned.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(webhook), bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook's address cannot be read; correct the file that notify.slack_webhook_file names")
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return errors.New("the webhook that notify.slack_webhook_file names cannot be reached")
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the webhook that notify.slack_webhook_file names answered %s", response.Status)
	}
	return nil
}
