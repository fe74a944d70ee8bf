package githubsim

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// longestToken is how far ahead a JSON web token may expire.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const longestToken = 10 * time.Minute

var errUndecoded = refuse(http.StatusUnauthorized, "A JSON web token could not be decoded")

// appOf finds the app that signed a JSON web token; it returns nil for a token of another kind. It refuses a
// token that no app signed, or that is not valid at this time by GitHub's clock.
func (s *Sim) appOf(token string) (*account, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil
	}
	var head struct{ Alg string }
	var body struct {
		Iss      string
		Iat, Exp int64
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !decodePart(parts[0], &head) || !decodePart(parts[1], &body) || head.Alg != "RS256" {
		return nil, errUndecoded
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	app := find(s.accounts, func(a *account) bool { return a.AppKey != nil && a.AppID == body.Iss })
	if app == nil || rsa.VerifyPKCS1v15(app.AppKey, crypto.SHA256, digest[:], sig) != nil {
		return nil, errUndecoded
	}
	now := s.Now()
	switch expires := time.Unix(body.Exp, 0); {
	case time.Unix(body.Iat, 0).After(now):
		return nil, refuse(http.StatusUnauthorized, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion "+
			"was issued")
	case !expires.After(now):
		return nil, refuse(http.StatusUnauthorized, "'Expiration time' claim ('exp') must be a numeric value representing the future time "+
			"at which the assertion expires")
	case expires.After(now.Add(longestToken)):
		return nil, refuse(http.StatusUnauthorized, "'Expiration time' claim ('exp') is too far in the future")
	}
	return app, nil
}

func decodePart(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(raw, into) == nil
}

// asApp refuses callers that do not authenticate as an app itself.
func (c *call) asApp() {
	if !c.byKey {
		fail(errUndecoded)
	}
}
