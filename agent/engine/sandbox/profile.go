package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// profile are the rules in the language of macOS's sandbox-exec, which is a Scheme. The last matching rule
// counts, so what is shown comes after what is hidden.
func profile(r Rules) string {
	profile := &strings.Builder{}
	profile.WriteString("(version 1)\n(allow default)\n(deny file-write*)\n")
	rule := func(rule string, places []string) {
		for _, place := range places {
			fmt.Fprintf(profile, "(%s (subpath \"%s\"))\n", rule, schemeString.Replace(place))
		}
	}
	rule("allow file-write*", append(slices.Clone(r.Write), "/dev"))
	rule("deny file-read-data", r.Hide)
	rule("allow file-read-data", slices.Concat(r.Show, r.Write))
	return profile.String()
}

// schemeString escapes the special characters of a string. Spaces and parentheses are not special.
var schemeString = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
