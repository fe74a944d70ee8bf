package forge

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// credential finds what looks like a secret in the forms that its issuers document: tokens of GitHub, of this
// product's relay, of Anthropic, OpenAI, Slack, AWS and Google, JSON web tokens, and private keys. A private key may
// stand within JSON, where its line breaks are escapes, in a quotation, a diff or a comment, where each line begins
// with a mark, and without its end.
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

// keyText is what a private key is written in, with its headers and the marks before its lines. It holds nothing by
// which a review's record begins, so that no key reaches into that.
const keyText = `[A-Za-z0-9+/=\s\\>|*"',:;#_-]`

// clipped finds the beginning of a secret in a text that was shortened before it was searched.
var clipped = lazyregexp.New(`\b(?:gh[pousr]_|github_pat_|rly_|sk-|xox[abeoprs]-|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{4,}…`)

// userinfo finds the name and password in a URL, as proxies and registries are configured with. In code it is an
// example more often than not.
var userinfo = lazyregexp.New(`(://)[^\s/@:"'<>]{0,100}:[^\s/@"'<>]{1,300}@`)

// HoldsSecret reports whether a text holds what looks like a credential.
func HoldsSecret(text string) bool { return credential.MatchString(text) }

// outgoing is text as it may leave this machine. This client's own token is removed even if it looks like none.
func (c *Client) outgoing(text string) string { return Redact(c.token.redact(text)) }

// Redact is a text without what looks like a credential: a model that has read a secret must not be able to publish
// it.
func Redact(text string) string {
	text = credential.ReplaceAllString(text, "[redacted]")
	return userinfo.ReplaceAllString(clipped.ReplaceAllString(text, "[redacted]"), "$1[redacted]@")
}
