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

// maxLog is how much of a log is read to find its end, in bytes.
const maxLog = 256 << 20

// jobLog returns the last limit bytes of the log of a job of GitHub Actions, which has the id of its check run. A log
// that cannot be read is told in its place: to know less of a failure is not to know nothing.
func (c *Client) jobLog(ctx context.Context, repo Repo, job int64, limit int) string {
	text, err := c.readLog(ctx, repo, job, limit)
	if err != nil {
		return "[the log could not be read: " + c.token.clean(err.Error()) + "]"
	}
	return text
}

// readLog follows GitHub's redirect to where it keeps the log, which is another host: the token does not go there.
// https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (c *Client) readLog(ctx context.Context, repo Repo, job int64, limit int) (string, error) {
	place, _, err := c.rest.Actions.GetWorkflowJobLogs(ctx, repo.Owner, repo.Name, job, 0)
	if err != nil {
		return "", err
	}
	if place.Scheme != "https" && (c.rest.BaseURL.Scheme == "https" || !loopback(place.Hostname())) {
		return "", errors.New("GitHub names a place for it that is not encrypted")
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place.String(), nil)
	if err != nil {
		return "", errors.New("GitHub names no place for it")
	}
	response, err := c.bare.RoundTrip(req)
	if err != nil {
		return "", withoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("its place answered %d", response.StatusCode)
	}
	// Of short lines the times that are taken out are by far the most.
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
	return cut(text, limit), nil
}

// noise is what stands before and between the words of a log: the time of each line, and colours.
var noise = lazyregexp.New(`(?m)^\x{FEFF}?\d{4}-\d\d-\d\dT[0-9:.]+Z |\x1b\[[0-9;]*[A-Za-z]|\r`)

// withoutURL leaves out of an error the address, which is as good as a key to the log.
func withoutURL(err error) error {
	var failure *url.Error
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}

// lastBytes reads to the end and returns the last n bytes, and whether that is all. More than maxLog is an error.
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
