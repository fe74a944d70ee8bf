package event

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Bounds of a filter, far above what any subscriber needs.
const (
	maxFilterValues = 100
	maxFilterLength = 256
)

// Filter says which events a subscriber wants. An empty list matches everything. In a list with several
// values, one has to match. All three lists have to match.
type Filter struct {
	// Sources are exact names of sources.
	Sources []string
	// Types are exact names of event types.
	Types []string
	// Repos are repositories or globs such as "acme/*", in the syntax of path.Match but case-insensitive,
	// like GitHub's names. A filter with Repos leaves out events that are about no repository.
	Repos []string
}

// ParseFilter reads the repeatable parameters source, type and repo from a query. The only other parameter of
// a stream is after, which it leaves to the caller. Any further parameter is an error, because a misspelt
// filter would let everything through. The errors are sentences for the author of the query.
func ParseFilter(query url.Values) (Filter, error) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains([]string{"source", "type", "repo", "after"}, name) {
			return Filter{}, fmt.Errorf("unknown parameter %.40q; the parameters are source, type, repo and after", name)
		}
	}
	f := Filter{Sources: query["source"], Types: query["type"], Repos: query["repo"]}
	if err := f.Validate(); err != nil {
		return Filter{}, err
	}
	return f, nil
}

// Validate reports the first unusable value, and why it is unusable.
func (f Filter) Validate() error {
	for _, list := range []struct {
		name   string
		values []string
	}{{"source", f.Sources}, {"type", f.Types}, {"repo", f.Repos}} {
		if len(list.values) > maxFilterValues {
			return fmt.Errorf("the filter %s has %d values; at most %d are allowed", list.name, len(list.values), maxFilterValues)
		}
		for _, value := range list.values {
			if value == "" || len(value) > maxFilterLength {
				return fmt.Errorf("the filter %s has a value of %d characters; 1 to %d are allowed", list.name, len(value), maxFilterLength)
			}
		}
	}
	for _, glob := range f.Repos {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("the filter repo=%q is not a valid pattern; write a repository or a glob such as acme/*", glob)
		}
	}
	return nil
}

// Query returns the filter in the form that ParseFilter reads.
func (f Filter) Query() url.Values {
	query := url.Values{}
	for name, values := range map[string][]string{"source": f.Sources, "type": f.Types, "repo": f.Repos} {
		if len(values) > 0 {
			query[name] = slices.Clone(values)
		}
	}
	return query
}

// Match reports whether the subscriber wants the event.
func (f Filter) Match(e Event) bool {
	if len(f.Sources) > 0 && !slices.Contains(f.Sources, e.Source) {
		return false
	}
	if len(f.Types) > 0 && !slices.Contains(f.Types, e.Type) {
		return false
	}
	if len(f.Repos) == 0 {
		return true
	}
	repo := strings.ToLower(e.Repo)
	return repo != "" && slices.ContainsFunc(f.Repos, func(glob string) bool {
		matched, err := path.Match(strings.ToLower(glob), repo)
		return err == nil && matched
	})
}
