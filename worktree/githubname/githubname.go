// Package githubname says what GitHub accepts as the full name of a repository, "owner/name", and as a login.
// Such names become parts of URLs and of file names, so nothing else is accepted.
//
// A login has letters, digits and inner hyphens; the logins of managed users also have an underscore
// (https://docs.github.com/en/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication).
// GitHub limits a login to 39 characters, and a repository's name to 100 of letters, digits, '.', '_' and '-'.
// Here a login may have 64, in case GitHub comes to allow more.
package githubname

import "strings"

const (
	maxLogin = 64
	maxName  = 100
)

// Split splits the full name of a repository. ok is false if it is none.
func Split(s string) (owner, name string, ok bool) {
	owner, name, _ = strings.Cut(s, "/")
	if !IsOwner(owner) || !consists(name, "-_.", maxName) || name == "." || name == ".." {
		return "", "", false
	}
	return owner, name, true
}

// IsRepository reports whether a text is the full name of a repository.
func IsRepository(s string) bool {
	_, _, ok := Split(s)
	return ok
}

// IsOwner reports whether a text names a user or an organization.
func IsOwner(s string) bool { return consists(s, "-_", maxLogin) && s[0] != '-' && s[0] != '_' }

// IsLogin reports whether a text is the login of a user, or of an App, which ends in "[bot]".
func IsLogin(s string) bool { return IsOwner(strings.TrimSuffix(s, "[bot]")) }

// consists reports whether a text has letters and digits of ASCII and some other characters only, at least one
// and at most so many.
func consists(s, others string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
