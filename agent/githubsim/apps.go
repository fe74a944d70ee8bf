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

// appOf finds the app that signed a JSON web token, nil when none did or not now.
func (s *Sim) appOf(token string) *account {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	var head struct{ Alg string }
	var body struct {
		Iss      string
		Iat, Exp int64
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !decodePart(parts[0], &head) || !decodePart(parts[1], &body) || head.Alg != "RS256" {
		return nil
	}
	now := time.Now()
	if time.Unix(body.Iat, 0).After(now) || !time.Unix(body.Exp, 0).After(now) || time.Unix(body.Exp, 0).After(now.Add(longestToken)) {
		return nil
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	for _, a := range s.accounts {
		if a.AppKey != nil && a.AppID == body.Iss && rsa.VerifyPKCS1v15(a.AppKey, crypto.SHA256, digest[:], sig) == nil {
			return a
		}
	}
	return nil
}

func decodePart(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(raw, into) == nil
}

// signedByKey tells a JSON web token, which shows an app itself, from the token of one of its installations.
func signedByKey(r *http.Request) bool { return strings.Count(r.Header.Get("Authorization"), ".") == 2 }
