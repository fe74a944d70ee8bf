package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"touchstone/worktree/pause"
	"touchstone/worktree/steps"
)

// browserAttacks are attempts on the page of a relay that requires tokens.
var browserAttacks = []attack{
	{"a link that was used signs in again", onRelay(relinked)},
}

// relinked tries the code of a used link again, and in other spellings of the same bytes.
func relinked(ctx context.Context, v *victim) string {
	token := steps.Got(exec.CommandContext(ctx, filepath.Join(v.bin, "touchstone-relay"), "token", "create", "--name", "laptop",
		"--store", "sqlite:"+v.log()).Output())
	code := v.link(ctx, strings.TrimSpace(string(token)))
	if !v.signsIn(ctx, code) {
		steps.Fail("the link signs nobody in")
	}
	for _, again := range []string{code, code + "\n", code[:9] + "\r\n" + code[9:]} {
		if v.signsIn(ctx, again) {
			return fmt.Sprintf("it does, as %q", again)
		}
	}
	return ""
}

// link returns the code of a new link for a token, once the relay knows the token.
func (v *victim) link(ctx context.Context, token string) (code string) {
	for {
		request := steps.Got(http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+"/sign-in/link", nil))
		request.Header.Set("Authorization", "Bearer "+token)
		response := steps.Got(http.DefaultClient.Do(request))
		var made struct{ Link string }
		err := json.NewDecoder(response.Body).Decode(&made)
		response.Body.Close()
		if link, wrong := url.Parse(made.Link); err == nil && wrong == nil && response.StatusCode == http.StatusOK {
			return link.Query().Get("code")
		}
		if !pause.For(ctx, 100*time.Millisecond) {
			steps.Fail("no link is made: %s", response.Status)
		}
	}
}

// signsIn reports whether a code gets a session cookie.
func (v *victim) signsIn(ctx context.Context, code string) bool {
	form := strings.NewReader(url.Values{"code": {code}}.Encode())
	request := steps.Got(http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+"/sign-in", form))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response := steps.Got(http.DefaultTransport.RoundTrip(request))
	defer response.Body.Close()
	return len(response.Cookies()) > 0
}
