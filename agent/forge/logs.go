package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// maxLog bounds how many bytes of a log are read to find its end.
const maxLog = 256 << 20

// jobLog returns the last limit bytes of the log of a GitHub Actions job, whose id is that of its check run.
// If the log cannot be read, the result says so: knowing less about a failure is better than knowing nothing.
func (c *Client) jobLog(ctx context.Context, repo Repo, job int64, limit int) string {
	text, err := c.readLog(ctx, repo, job, limit)
	if err != nil {
		return "[the log could not be read: " + c.token.clean(err.Error()) + "]"
	}
	return text
}

// readLog follows GitHub's redirect to the log, which is on another host: the token is not sent there.
// https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (c *Client) readLog(ctx context.Context, repo Repo, job int64, limit int) (string, error) {
	place, _, err := c.rest.Actions.GetWorkflowJobLogs(ctx, repo.Owner, repo.Name, job, 0)
	if err != nil {
		return "", err
	}
	if place.Scheme != "https" && (c.rest.BaseURL.Scheme == "https" || !Loopback(place.Hostname())) {
		return "", errors.New("GitHub gave an unencrypted address for it")
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place.String(), nil)
	if err != nil {
		return "", errors.New("GitHub gave no address for it")
	}
	response, err := c.bare.RoundTrip(req)
	if err != nil {
		return "", withoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("its address answered %d", response.StatusCode)
	}
	// With short lines, most of the bytes are timestamps, which are removed.
	text, whole, err := lastBytes(response.Body, 12*limit)
	if err != nil {
		return "", withoutURL(err)
	}
	if !whole {
		_, text, _ = strings.Cut(text, "\n")
	}
	text = c.outgoing(noise.ReplaceAllString(strings.ToValidUTF8(text, "?"), ""))
	if !whole {
		text = leftOut + text
	}
	return Tail(text, limit), nil
}

// noise matches what is removed from a log: the timestamp of each line, and colours.
var noise = lazyregexp.New(`(?m)^\x{FEFF}?\d{4}-\d\d-\d\dT[0-9:.]+Z |\x1b\[[0-9;]*[A-Za-z]|\r`)

// withoutURL removes the URL from an error, since the URL alone gives access to the log.
func withoutURL(err error) error {
	if failure, ok := errors.AsType[*url.Error](err); ok {
		return failure.Err
	}
	return err
}

// lastBytes reads to the end and returns the last n bytes, and whether these are all. More than maxLog is an
// error.
func lastBytes(from io.Reader, n int) (text string, whole bool, err error) {
	var kept []byte
	chunk := make([]byte, 32<<10)
	for total := 0; ; {
		read, err := from.Read(chunk)
		kept = append(kept, chunk[:read]...)
		if len(kept) > 2*n {
			kept = append(kept[:0], kept[len(kept)-n:]...)
		}
		switch total += read; {
		case errors.Is(err, io.EOF):
			return string(kept[max(0, len(kept)-n):]), total <= n, nil
		case err != nil:
			return "", false, err
		case total > maxLog:
			return "", false, fmt.Errorf("it is longer than %d MiB", maxLog>>20)
		}
	}
}
