// Package setup creates a machine's configuration: it redeems an invitation at a relay, and writes the chosen
// settings to agent.yaml and the files that it names. It asks no questions and prints nothing.
package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/relay/event"
)

// Invitation is the parsed form of a link that lets this machine join a relay.
type Invitation struct {
	// Relay is the relay's address, without a slash at its end.
	Relay string
	code  string
}

// ParseInvitation parses the link that touchstone-relay invite create prints. Its errors do not show the
// link, which is a secret. It accepts an unencrypted link only if the link points to this machine.
func ParseInvitation(link string) (Invitation, error) {
	address, err := url.Parse(strings.TrimSpace(link))
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return Invitation{}, errors.New("this is not an invitation; give the whole link in quotes, " +
			"such as https://relay.example.com/join#inv_…")
	}
	code := address.Fragment
	place, found := strings.CutSuffix(address.Path, "/join")
	if _, _, whole := event.SplitToken(code, event.CodePrefix); !found || !whole {
		return Invitation{}, errors.New("that link has no invitation's code, or not the whole of it; give it in quotes, with all " +
			"that stands behind the #")
	}
	if address.Scheme == "http" && !forge.Loopback(address.Hostname()) {
		return Invitation{}, fmt.Errorf("the connection to %s would not be encrypted, and the token could be read on its way; "+
			"ask for a link that begins with https", address.Host)
	}
	return Invitation{Relay: address.Scheme + "://" + address.Host + place, code: code}, nil
}

const (
	redeemTimeout = 20 * time.Second
	maxAnswer     = 64 << 10
)

// Look returns what the invitation is for, without the token. The invitation stays valid.
func (i Invitation) Look(ctx context.Context) (event.Membership, error) {
	member, status, err := i.send(ctx, "/api/v1/join/look")
	if err == nil && !member.Role.Valid() {
		err = i.strange(status)
	}
	return member, err
}

// Redeem exchanges the invitation at its relay, which works once.
func (i Invitation) Redeem(ctx context.Context) (event.Membership, error) {
	member, status, err := i.send(ctx, "/api/v1/join")
	// The answer ends up in files, on a terminal and in the names of services.
	if _, _, whole := event.SplitToken(member.Token, event.TokenPrefix); err == nil && (!whole || !member.Role.Valid()) {
		err = i.strange(status)
	}
	return member, err
}

// strange says that an answer is not from a relay.
func (i Invitation) strange(status string) error {
	return fmt.Errorf("%s answered %s, which no relay does; check the link", i.Relay, status)
}

// send sends the code to the relay, and returns the relay's answer and its status.
func (i Invitation) send(ctx context.Context, path string) (event.Membership, string, error) {
	ctx, cancel := context.WithTimeout(ctx, redeemTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]string{"code": i.code})
	if err != nil {
		return event.Membership{}, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, i.Relay+path, bytes.NewReader(body))
	if err != nil {
		return event.Membership{}, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	// A redirect would send the code to another server.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return event.Membership{}, "", fmt.Errorf("reach the relay: %w; is the machine online, and does the relay run?", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return event.Membership{}, "", fmt.Errorf("read the relay's answer: %w", err)
	}
	var answer struct {
		event.Membership
		Error string `json:"error"`
	}
	err = json.Unmarshal(text, &answer)
	switch {
	case answer.Error != "":
		return event.Membership{}, "", fmt.Errorf("the relay at %s says: %.500q", i.Relay, answer.Error)
	case response.StatusCode != http.StatusOK, err != nil:
		return event.Membership{}, "", i.strange(response.Status)
	}
	// The address of the link is known to work.
	answer.Relay = i.Relay
	return answer.Membership, response.Status, nil
}
