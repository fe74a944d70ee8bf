package verdict

import (
	"slices"
	"strings"
)

// SameLogin compares logins as GitHub does, ignoring case. The empty login equals
// no login.
func SameLogin(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// ListsLogin reports whether a login is among logins.
func ListsLogin(logins []string, login string) bool {
	return slices.ContainsFunc(logins, func(l string) bool { return SameLogin(l, login) })
}
