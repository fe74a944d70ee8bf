package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/session"
)

// login is what a session authenticates with.
type login struct {
	// variable is the CLI's variable for the secret; empty without a login.
	variable string
	secret   string
}

// provider is the provider that a gateway forwards requests to. The gateway keeps an API key from the
// session. A subscription's login goes to the provider directly: it is for claude's own use.
func (e *Engine) provider(l login) *gateway.Provider {
	if l.variable != "ANTHROPIC_AUTH_TOKEN" && l.variable != "ANTHROPIC_API_KEY" {
		return nil
	}
	return &gateway.Provider{URL: providerOf(session.Program(*e)), Key: l.secret}
}

// redact removes the login from a text.
func (l login) redact(text string) string {
	if l.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, l.secret, "[redacted]")
}

// Keys are the variables in which the CLI looks for its login, in its own order of preference.
func (*Engine) Keys() []string {
	return []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", subscriptionVariable}
}

// subscriptionVariable holds the login of a subscription.
const subscriptionVariable = "CLAUDE_CODE_OAUTH_TOKEN"

// maxCredentials bounds, in bytes, the file with a subscription's login. That file has about 1 KB.
const maxCredentials = 1 << 20

// login finds the login to use, in the CLI's own order of preference. It is no error if there is none: the
// CLI may need none (a gateway), or will say what is missing.
//
// A subscription's login is below ~/.claude, with a refresh token that can be used only once. A session only
// gets the access token: if it had a copy of the file and renewed the login, the user's own login would end.
// On macOS the file is in the keychain, which would ask the user each time. There, and on machines that are
// always on, use "claude setup-token".
func (e *Engine) login(lifetime time.Duration) (login, error) {
	lookup := session.Program(*e).Lookup
	for _, variable := range e.Keys() {
		if secret := lookup(variable); secret != "" {
			return login{variable: variable, secret: secret}, nil
		}
	}
	path := lookup("CLAUDE_CONFIG_DIR")
	if path == "" {
		home := session.Program(*e).UserHome()
		if home == "" {
			return login{}, nil
		}
		path = filepath.Join(home, ".claude")
	}
	return subscription(filepath.Join(path, ".credentials.json"), time.Now().Add(lifetime))
}

// subscription reads the access token that the user's own CLI renews.
func subscription(path string, until time.Time) (login, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return login{}, nil
	}
	if err != nil {
		return login{}, &engine.Error{Class: engine.Auth,
			Message: fmt.Sprintf("the claude login cannot be read (%v); make it readable, or %s", err, loginHint), Err: err}
	}
	defer file.Close()
	var stored struct {
		OAuth struct {
			AccessToken string `json:"accessToken"`
			// ExpiresAt is in milliseconds since 1970.
			ExpiresAt int64 `json:"expiresAt"`
		} `json:"claudeAiOauth"`
	}
	// The decoder's error could quote the file, so it is not returned.
	if json.NewDecoder(io.LimitReader(file, maxCredentials)).Decode(&stored) != nil {
		return login{}, engine.Errorf(engine.Auth, "the claude login in %s is not readable; %s", path, loginHint)
	}
	if stored.OAuth.AccessToken == "" {
		return login{}, nil
	}
	if time.UnixMilli(stored.OAuth.ExpiresAt).Before(until) {
		return login{}, engine.Errorf(engine.Auth,
			"the claude login in %s expires before a session could be over; start claude once to renew it, or %s", path, loginHint)
	}
	return login{variable: subscriptionVariable, secret: stored.OAuth.AccessToken}, nil
}

const loginHint = `set ANTHROPIC_API_KEY, or run "claude setup-token" and set CLAUDE_CODE_OAUTH_TOKEN`
