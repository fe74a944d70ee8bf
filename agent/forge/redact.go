package forge

import (
	"regexp"
	"strings"
)

// credential finds what looks like a secret in the forms that its issuers document: tokens of GitHub, of this
// product's relay, of Anthropic, OpenAI, Slack, AWS and Google, JSON web tokens, and private keys. A private key may
// stand within JSON, where its line breaks are escapes.
var credential = regexp.MustCompile(strings.Join([]string{
	`\bgh[pousr]_[A-Za-z0-9]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\brly_[A-Za-z0-9]+_[A-Za-z0-9_-]{16,}`,
	`\bsk-[A-Za-z0-9_-]{16,}`,
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
	`\bAIza[0-9A-Za-z_-]{35}`,
	`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`,
}, "|"))

// HoldsSecret reports whether a text holds what looks like a credential.
func HoldsSecret(text string) bool { return credential.MatchString(text) }

// outgoing is text as it may leave this machine: a model that has read a secret, wherever it found it, must not be
// able to publish it. This client's own token goes whatever its form.
func (c *Client) outgoing(text string) string {
	return credential.ReplaceAllString(c.token.redact(text), "[redacted]")
}
