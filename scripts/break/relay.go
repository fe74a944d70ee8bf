package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// relayAttacks are attempts on a relay without tokens, on loopback.
var relayAttacks = []attack{
	{"silent connections keep webhooks out", crowd("")},
	{"unfinished heads keep webhooks out", crowd("POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nX-Long: " + strings.Repeat("x", 15<<10))},
	{"announced bodies keep webhooks out", crowd("POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Length: 65536\r\n\r\n")},
	{"unfinished bodies keep webhooks out", crowd("POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Length: 65536\r\n\r\n" +
		strings.Repeat("x", 60<<10))},
	{"a deleted log takes webhooks", onRelay(deleted)},
	{"a signed webhook is stored under a new id", onRelay(replayed)},
	{"a local program changes the agents' settings", onRelay(administered)},
}

const secret = "break"

// victim is a running relay.
type victim struct {
	command *exec.Cmd
	folder  string
	address string
	ended   chan struct{} // closed when the process has
}

// start runs a relay over a log of its own.
func start(ctx context.Context, bin string) (*victim, error) {
	folder, err := os.MkdirTemp("", "break")
	if err != nil {
		return nil, err
	}
	v, err := startOn(ctx, bin, folder)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return v, nil
}

// onRelay makes an attack on a relay over a log of its own.
func onRelay(try func(context.Context, *victim) (string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (string, error) {
		v, err := start(ctx, bin)
		if err != nil {
			return "", err
		}
		defer v.stop()
		return try(ctx, v)
	}
}

// startOn runs a relay over the log in a folder, which may be there already.
func startOn(ctx context.Context, bin, folder string, flags ...string) (*victim, error) {
	v := &victim{folder: folder, ended: make(chan struct{})}
	file := filepath.Join(folder, "address")
	arguments := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(folder, "relay.db"),
		"--address-file", file}, flags...)
	v.command = exec.CommandContext(ctx, filepath.Join(bin, "touchstone-relay"), arguments...)
	v.command.Env = append(os.Environ(), "RELAY_GITHUB_SECRET="+secret)
	_ = os.Remove(file) // an earlier relay's
	if err := v.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(v.ended)
		_ = v.command.Wait() // how it ended is no attack's matter
	}()
	for ctx.Err() == nil {
		select {
		case <-v.ended:
			return nil, errors.New("the relay ended at once")
		default:
		}
		if text, err := os.ReadFile(file); err == nil {
			v.address = strings.TrimSpace(string(text))
			return v, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	v.kill()
	return nil, ctx.Err()
}

// stop ends the relay and takes its log away; what fails about that is no attack's matter.
func (v *victim) stop() {
	v.kill()
	_ = os.RemoveAll(v.folder)
}

// post sends a correctly signed webhook of 20 kB and returns the status of its answer.
func (v *victim) post(ctx context.Context, delivery, text string) (int, error) {
	body := fmt.Sprintf(`{"text":%q,"more":%q}`, text, strings.Repeat("x", 20_000))
	return v.sendSigned(ctx, delivery, body)
}

// sendSigned sends a correctly signed webhook and returns the status of its answer.
func (v *victim) sendSigned(ctx context.Context, delivery, body string) (int, error) {
	request, err := v.request(ctx, delivery, body)
	if err != nil {
		return 0, err
	}
	return send(request)
}

// request is a correctly signed webhook.
func (v *victim) request(ctx context.Context, delivery, body string) (*http.Request, error) {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+"/webhooks/github", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-GitHub-Event", "push")
	request.Header.Set("X-GitHub-Delivery", delivery)
	request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return request, nil
}

// send uses a connection of its own.
func send(request *http.Request) (int, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// Bounds of a crowd: what the relay lets a webhook of another address take, in time and memory.
const (
	crowdAddresses = 8
	crowdEach      = 600
	maxWait        = time.Second
	maxMemory      = 400 << 20
)

// crowd opens connections from eight addresses that say no more than opening.
func crowd(opening string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (string, error) {
		v, err := start(ctx, bin)
		if err != nil {
			return "", err
		}
		defer v.stop()
		for i := range crowdAddresses * crowdEach {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%crowdAddresses+1))}}
			conn, err := dialer.DialContext(ctx, "tcp", v.address)
			if err != nil {
				return "", err
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, opening) // the relay may have closed it
		}
		begin := time.Now()
		status, err := v.post(ctx, "wanted", "wanted")
		switch took := time.Since(begin); {
		case err != nil || status != http.StatusAccepted:
			return fmt.Sprintf("a webhook was answered %d, %v", status, err), nil
		case took > maxWait:
			return fmt.Sprintf("a webhook took %s", took), nil
		}
		if memory := peak(v.command.Process.Pid); memory > maxMemory {
			return fmt.Sprintf("the relay took %d MB", memory>>20), nil
		}
		return "", nil
	}
}

// peak is the most memory that a process has had, where the system tells; else zero.
func peak(pid int) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	_, _ = fmt.Sscan(rest, &bytes)
	return bytes << 10
}

func deleted(ctx context.Context, v *victim) (string, error) {
	if err := os.Remove(filepath.Join(v.folder, "relay.db")); err != nil {
		return "", err
	}
	status, err := v.post(ctx, "lost", "lost")
	if err == nil && status != http.StatusServiceUnavailable {
		return fmt.Sprintf("a webhook that is lost was answered %d", status), nil
	}
	return "", err
}

func replayed(ctx context.Context, v *victim) (string, error) {
	if status, err := v.post(ctx, "first", "one"); err != nil || status != http.StatusAccepted {
		return "", errors.Join(fmt.Errorf("the webhook itself was answered %d", status), err)
	}
	if status, err := v.post(ctx, "again", "one"); err != nil || status != http.StatusOK {
		return fmt.Sprintf("it was answered %d", status), err
	}
	return "", nil
}

func administered(ctx context.Context, v *victim) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, "http://"+v.address+"/control",
		strings.NewReader(`{"engine.off":"opus"}`))
	if err != nil {
		return "", err
	}
	status, err := send(request)
	if err == nil && status != http.StatusForbidden {
		return fmt.Sprintf("the change was answered %d", status), nil
	}
	return "", err
}
