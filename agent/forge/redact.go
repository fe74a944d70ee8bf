package forge

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// credential matches what looks like a secret in the forms that its issuers document: tokens of GitHub, of
// this product's relay, of Anthropic, OpenAI, Slack, AWS and Google, JSON web tokens, and private keys. A
// private key may be inside JSON, where its line breaks are escaped; in a quotation, a diff or a comment,
// where each line begins with a mark; and without its end.
var credential = lazyregexp.New(strings.Join([]string{
	`\bgh[pousr]_[A-Za-z0-9]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\brly_[A-Za-z0-9]+_[A-Za-z0-9_-]{16,}`,
	`\bsk-[A-Za-z0-9_-]{16,}`,
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
	`\bAIza[0-9A-Za-z_-]{35}`,
	`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
	`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:` + keyText + `*?-----END [A-Z ]*PRIVATE KEY-----|` + keyText + `*)`,
}, "|"))

// keyText matches the characters of a private key, with its headers and the marks before its lines. It does
// not match what a review's record begins with, so no match extends into a record.
const keyText = `[A-Za-z0-9+/=\s\\>|*"',:;#_-]`

// clipped matches the beginning of a secret in a text that was shortened before it was searched.
var clipped = lazyregexp.New(`\b(?:gh[pousr]_|github_pat_|rly_|sk-|xox[abeoprs]-|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{4,}…`)

// userinfo matches the name and password in a URL, as in the configuration of proxies and registries. In code
// it is mostly an example.
var userinfo = lazyregexp.New(`(://)[^\s/@:"'<>]{0,100}:[^\s/@"'<>]{1,300}@`)

// HoldsSecret reports whether a text contains what looks like a credential.
func HoldsSecret(text string) bool { return credential.MatchString(text) }

// outgoing is a text that may leave this machine. It also removes this client's own token, even if that does
// not look like one.
func (c *Client) outgoing(text string) string { return Redact(c.token.redact(text)) }

// Redact is a text without what looks like a credential: a model that has read a secret must not be able to
// publish it.
func Redact(text string) string {
	text = credential.ReplaceAllString(text, "[redacted]")
	return userinfo.ReplaceAllString(clipped.ReplaceAllString(text, "[redacted]"), "$1[redacted]@")
}
