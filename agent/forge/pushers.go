package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// activityPages bounds how many pages of a branch's activity are read, with 100 entries each.
const activityPages = 20

// pushers are the logins that pushed one of the commits to the head branch of a pull request as its tip,
// according to GitHub's list of the branch's activity
// (https://docs.github.com/rest/repos/repos#list-repository-activities). An older server, or a fork that the
// token cannot see, has no such list: then no login is known to have pushed.
func (c *Client) pushers(ctx context.Context, pr PullRequest, commits map[string]bool) ([]string, error) {
	var all []string
	query := url.Values{"ref": {"refs/heads/" + pr.Head.Name}, "per_page": {"100"}}
	for range activityPages {
		var page []struct {
			After string
			Actor *struct{ Login string }
		}
		response, err := c.call(ctx, http.MethodGet, fmt.Sprintf("repos/%s/activity?%s", pr.Head.Repo, query.Encode()), nil, &page)
		if err = c.failed("read who pushed to "+pr.Ref.String(), err); errors.Is(err, ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, move := range page {
			if commits[move.After] && move.Actor != nil && !slices.Contains(all, move.Actor.Login) {
				all = append(all, move.Actor.Login)
			}
		}
		if response.After == "" {
			return all, nil
		}
		query.Set("after", response.After)
	}
	return nil, c.failed("read who pushed to "+pr.Ref.String(), unreadable("its branch was pushed to more often than the agents read"))
}
