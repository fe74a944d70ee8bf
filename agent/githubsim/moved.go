package githubsim

import (
	"fmt"
	"net/http"
	"strings"
)

// elsewhere redirects a request for a renamed repository to its path by number: 301 for reads, 307 for writes.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (c *call) elsewhere() reply {
	old := "/" + c.r.PathValue("owner") + "/" + c.r.PathValue("repo")
	r := c.sim.moved[strings.ToLower(old[1:])]
	_, rest, found := strings.Cut(c.r.URL.Path, old)
	if r == nil || !found || r.permission(c.user) == "none" {
		return fail(errNotFound)
	}
	to := c.sim.api("/repositories/%d", r.id) + rest
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	if c.r.Method == http.MethodGet {
		return reply{status: http.StatusMovedPermanently, location: to}
	}
	return reply{status: http.StatusTemporaryRedirect, location: to}
}

// byNumber serves paths that name a repository by its number like the paths with its name.
func (s *Sim) byNumber(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/repositories/"); ok {
			id, rest, _ := strings.Cut(rest, "/")
			s.mu.Lock()
			for _, known := range s.repos {
				if fmt.Sprint(known.id) == id {
					r = r.Clone(r.Context())
					r.URL.Path = "/repos/" + known.fullName() + "/" + rest
				}
			}
			s.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}
