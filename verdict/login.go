package verdict

import (
	"slices"
	"strings"
)

// DeletedLogin is the login that GitHub shows for all deleted accounts
// (https://docs.github.com/en/account-and-profile/setting-up-and-managing-your-personal-account-on-github/managing-your-personal-account/deleting-your-personal-account).
const DeletedLogin = "ghost"

// AppSuffix is the end of the login of an App's bot, which no other login has.
const AppSuffix = "[bot]"

// IsApp reports whether a login is an App's.
func IsApp(login string) bool { return strings.HasSuffix(login, AppSuffix) }

// SameLogin compares logins as GitHub does, ignoring case. The empty login equals
// no login.
func SameLogin(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// ListsLogin reports whether a login is among logins.
func ListsLogin(logins []string, login string) bool {
	return slices.ContainsFunc(logins, func(l string) bool { return SameLogin(l, login) })
}
