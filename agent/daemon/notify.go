package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// notifier notifies people through a Slack-compatible webhook. The label on the pull request is the queue, so
// a lost message loses nothing.
type notifier struct {
	// url is a secret, since it alone allows posting. If it is empty, there are no notifications.
	url string
}

// send posts one text.
func (n notifier) send(ctx context.Context, text string) error {
	if n.url == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	// The errors of net/http contain the URL, so they must not be returned.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook's address cannot be read; mend the file that notify.slack_webhook_file names")
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return errors.New("the webhook that notify.slack_webhook_file names cannot be reached")
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the webhook that notify.slack_webhook_file names answers %s", response.Status)
	}
	return nil
}
