package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// browserAttacks are attempts on the page of a relay that requires tokens.
var browserAttacks = []attack{
	{"a link that was used signs in again", relinked},
}

// relinked tries the code of a used link again, and in other spellings of the same bytes.
func relinked(ctx context.Context, bin string) (string, error) {
	v, err := start(ctx, bin)
	if err != nil {
		return "", err
	}
	defer v.stop()
	token, err := exec.CommandContext(ctx, filepath.Join(bin, "touchstone-relay"), "token", "create", "--name", "laptop",
		"--store", "sqlite:"+v.log()).Output()
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	code, err := v.link(ctx, strings.TrimSpace(string(token)))
	if err != nil {
		return "", err
	}
	if in, err := v.signsIn(ctx, code); err != nil || !in {
		return "", errors.Join(errors.New("the link signs nobody in"), err)
	}
	for _, again := range []string{code, code + "\n", code[:9] + "\r\n" + code[9:]} {
		if in, err := v.signsIn(ctx, again); err != nil || in {
			return fmt.Sprintf("it does, as %q", again), err
		}
	}
	return "", nil
}

// link returns the code of a new link for a token, once the relay knows the token.
func (v *victim) link(ctx context.Context, token string) (code string, err error) {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+"/sign-in/link", nil)
		if err != nil {
			return "", err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		var made struct{ Link string }
		err = json.NewDecoder(response.Body).Decode(&made)
		response.Body.Close()
		if link, wrong := url.Parse(made.Link); err == nil && wrong == nil && response.StatusCode == http.StatusOK {
			return link.Query().Get("code"), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no link is made: %s", response.Status)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// signsIn reports whether a code gets a session cookie.
func (v *victim) signsIn(ctx context.Context, code string) (bool, error) {
	form := strings.NewReader(url.Values{"code": {code}}.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+"/sign-in", form)
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	return len(response.Cookies()) > 0, nil
}
