package githubsim

import (
	"fmt"
	"net/http"
	"strings"
)

// elsewhere sends a request for a repository that is called otherwise now to where that is by its
// number: 301 to read, 307 to write.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (c *call) elsewhere() (reply, error) {
	old := "/" + c.r.PathValue("owner") + "/" + c.r.PathValue("repo")
	r := c.sim.moved[strings.ToLower(old[1:])]
	_, rest, found := strings.Cut(c.r.URL.Path, old)
	if r == nil || !found || r.permission(c.user) == "none" {
		return reply{}, errNotFound
	}
	to := c.sim.api("/repositories/%d", r.id) + rest
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	if c.r.Method == http.MethodGet {
		return reply{status: http.StatusMovedPermanently, location: to}, nil
	}
	return reply{status: http.StatusTemporaryRedirect, location: to}, nil
}

// byNumber serves what names a repository by its number as what names it by its name.
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
