package acp_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/engine/enginetest"
)

// actVariable makes this test binary play an agent instead of testing.
const actVariable = "ACP_TEST_AGENT"

func TestMain(m *testing.M) {
	enginetest.Bootstrap()
	if act := os.Getenv(actVariable); act != "" {
		play(act)
		return
	}
	os.Exit(m.Run())
}

// call is a message that a prompt has the agent send; one with an id is answered.
type call struct {
	ID     any    `json:"id,omitempty"`
	Method string `json:"method,omitempty"`
	Params any    `json:"params,omitempty"`
}

// task begins what this test asks in a prompt, which is a list of calls.
const task = "# Your task\n\n"

// play is an agent that sends the calls of its prompt, and writes the answers as its own. What it has been
// given of the environment it writes too.
func play(act string) {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	next := func() (m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
	}) {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(3)
		}
		if err := json.Unmarshal(line, &m); err != nil {
			os.Exit(4)
		}
		return m
	}
	reply := func(id json.RawMessage, result any) {
		_ = out.Encode(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	}
	say := func(text string) {
		_ = out.Encode(call{Method: "session/update", Params: map[string]any{"sessionId": "s1", "update": map[string]any{
			"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}}}})
	}
	version := 1
	if act == "future" {
		version = 2
	}
	for {
		asked := next()
		switch asked.Method {
		case "initialize":
			reply(asked.ID, map[string]any{"protocolVersion": version, "authMethods": []any{},
				"agentInfo": map[string]any{"name": "actor", "version": "7.0.0"}})
			say(string(asked.Params) + "\n")
		case "session/new":
			if act == "closed" {
				_ = out.Encode(map[string]any{"id": asked.ID, "error": map[string]any{"code": -32000,
					"message": "Authentication required, not " + os.Getenv("OPENAI_API_KEY")}})
				continue
			}
			reply(asked.ID, map[string]any{"sessionId": "s1"})
		case "session/prompt":
			var prompt struct{ Prompt []struct{ Text string } }
			_ = json.Unmarshal(asked.Params, &prompt)
			_, text, _ := strings.Cut(prompt.Prompt[0].Text, task)
			var calls []call
			if json.Unmarshal([]byte(cmp.Or(text, prompt.Prompt[0].Text)), &calls) != nil {
				say(strings.TrimSpace(cmp.Or(text, prompt.Prompt[0].Text)))
			}
			for _, c := range calls {
				_ = out.Encode(c)
				if c.ID == nil {
					continue
				}
				answer := next()
				say(fmt.Sprintf("%s: %s%s\n", answer.ID, answer.Result, answer.Error))
			}
			if act == "telling" {
				// Hidden files keep an agent from looking further above.
				found, err := filepath.Glob("[^.]*")
				say(strings.Join(os.Environ(), "\n") + fmt.Sprintf("\nin an empty directory: %v", err == nil && len(found) == 0))
			}
			reply(asked.ID, map[string]any{"stopReason": "end_turn",
				"usage": map[string]any{"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}})
		}
	}
}
