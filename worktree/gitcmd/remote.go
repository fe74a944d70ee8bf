package gitcmd

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Remote is the repository to fetch from and push to.
type Remote struct {
	// URL is an http, https or file URL without user or password.
	URL string
	// Authorization is the value of the HTTP Authorization header, or "". It reaches git only through its
	// environment, never through argv, files or errors.
	Authorization string
}

// Validate refuses values that would put a secret into a URL or break out of a header.
func (r Remote) Validate() error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return errors.New("remote URL: cannot be parsed")
	}
	switch u.Scheme {
	case "http", "https", "file":
	default:
		return fmt.Errorf("remote URL scheme %q: must be https, http or file", u.Scheme)
	}
	if u.User != nil {
		return errors.New("remote URL: must not contain a user or password; set Authorization instead")
	}
	if strings.ContainsAny(r.Authorization, "\r\n\x00") {
		return errors.New("remote authorization: must be a single line")
	}
	return nil
}
