package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/scripts/program"
	"touchstone/worktree/pause"
)

// send sends one webhook after the other, each until it is acknowledged, and some of them again. It begins no
// new one after until has ended.
func (w *world) send(ctx, until context.Context, sender int) {
	for i := 0; until.Err() == nil; i++ {
		delivery := fmt.Sprintf("%d-%d", sender, i)
		body := w.body(delivery)
		for times := 1 + w.dice(10)/9; times > 0; times-- {
			w.deliver(ctx, delivery, body)
		}
	}
}

// body makes a payload: usually of some kilobytes, sometimes of more than fits into one Firestore document.
func (w *world) body(delivery string) []byte {
	size := 500 + w.dice(8000)
	if w.dice(300) == 0 {
		size = 1_000_000
	}
	w.mu.Lock()
	source := rand.NewPCG(w.random.Uint64(), 0)
	w.mu.Unlock()
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(source.Uint64())
	}
	return fmt.Appendf(nil, `{"delivery":%q,"noise":%q}`, delivery, base64.StdEncoding.EncodeToString(noise))
}

// deliver sends a webhook to one relay after the other until it is acknowledged.
func (w *world) deliver(ctx context.Context, delivery string, body []byte) {
	for ctx.Err() == nil {
		id, err := post(ctx, w.pick().address, delivery, body)
		if err == nil {
			w.note(delivery, id)
			return
		}
		pause.For(ctx, time.Duration(20+w.dice(80))*time.Millisecond)
	}
}

func (w *world) note(delivery, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, ok := w.acknowledged[delivery]; ok && before != id {
		w.conflicts = append(w.conflicts, fmt.Sprintf("%s was acknowledged as %s and as %s", delivery, before, id))
	}
	w.acknowledged[delivery] = id
}

// sending is a client that gives up on a relay that hangs.
var sending = &http.Client{Timeout: 15 * time.Second}

// post sends a webhook once and returns the cursor with which it was acknowledged.
func post(ctx context.Context, address, delivery string, body []byte) (string, error) {
	status, answer, err := program.Post(ctx, sending, "http://"+address, secret, "push", delivery, body)
	if err != nil {
		return "", err
	}
	if status != http.StatusOK && status != http.StatusAccepted {
		return "", fmt.Errorf("answered %d", status)
	}
	var accepted struct{ ID string }
	err = json.Unmarshal(answer, &accepted)
	return accepted.ID, err
}

// follow keeps a subscriber on one relay for a while and then moves it to another, with the cursor from the
// first. After until has ended, the subscriber stays.
func (s *subscriber) follow(ctx, until context.Context) error {
	cursor := client.Oldest
	for ctx.Err() == nil {
		patience := settleTimeout
		if until.Err() == nil {
			patience = time.Duration(1000+s.world.dice(3000)) * time.Millisecond
		}
		stay, leave := context.WithTimeout(ctx, patience)
		c := client.Client{URL: "http://" + s.world.pick().address}
		err := c.Follow(stay, cursor, func(_ context.Context, m event.Message) error {
			if m.Gap != nil || m.Reset != nil {
				return fmt.Errorf("a subscriber at %s was told %+v", cursor, m)
			}
			if m.Event != nil {
				s.record(m.Event)
			}
			if !m.Cursor.IsZero() {
				cursor = m.Cursor.String()
			}
			return nil
		})
		over := stay.Err() != nil
		leave()
		if err != nil && !over {
			return err
		}
	}
	return nil
}
