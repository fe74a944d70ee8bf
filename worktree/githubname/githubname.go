// Package githubname says for both programs which names GitHub may have given. It stores nothing.
package githubname

import "regexp"

// login is a name of up to 64 letters, digits and hyphens. Managed users also have an underscore before their
// enterprise's short code, see
// https://docs.github.com/en/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication.
// The login of an App ends in [bot].
var login = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\[bot\])?$`)

// IsLogin reports whether a name can be a login on GitHub, including an App's.
func IsLogin(name string) bool { return login.MatchString(name) }
