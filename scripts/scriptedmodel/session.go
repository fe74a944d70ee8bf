package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
)

// session prints one session's events and counts its turns and tokens.
type session struct {
	out    io.Writer
	script *Script
	fault  string
	dir    string
	prompt string
	model  string
	id     string
	pause  time.Duration

	turns  int
	output int
	calls  int
}

// crashStatus is the exit status of a scripted crash.
const crashStatus = 3

func (s *session) begin(tools []string) error {
	if rest, slow := strings.CutPrefix(s.fault, "slow:"); slow {
		// checkFault has parsed it already.
		s.pause, _ = time.ParseDuration(rest)
	}
	if s.model == "" {
		s.model = "scripted-model"
	}
	return s.print(map[string]any{
		"type": "system", "subtype": "init", "cwd": s.dir, "tools": tools,
		"model": s.model, "apiKeySource": "none", "claude_code_version": version,
	})
}

func (s *session) text(text string) error {
	s.turns++
	s.output += tokens(text)
	return s.assistant(map[string]any{"type": "text", "text": text})
}

// edit announces an edit, makes it, and prints the result, like a tool call.
func (s *session) edit(path, old, replacement string, apply func() error) error {
	return s.tool("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": replacement}, func() (string, error) {
		return "The file " + path + " has been updated.", apply()
	})
}

// read announces reading a file. The content is not needed, and is not printed.
func (s *session) read(path string) error {
	return s.tool("Read", map[string]any{"file_path": path}, func() (string, error) { return "The file was read.", nil })
}

// tool announces a call, makes it, and prints its result.
func (s *session) tool(name string, input map[string]any, call func() (said string, err error)) error {
	s.turns++
	s.calls++
	id := fmt.Sprintf("toolu_scripted_%d", s.calls)
	if err := s.assistant(map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}); err != nil {
		return err
	}
	said, err := call()
	if err != nil {
		return err
	}
	return s.print(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": said},
	}}})
}

// conclude prints the last text, and ends the session with it.
func (s *session) conclude(result string) error {
	if err := s.text(result); err != nil {
		return err
	}
	input := tokens(s.prompt)
	return s.print(map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "api_error_status": nil,
		"terminal_reason": "completed", "num_turns": s.turns, "result": result, "total_cost_usd": s.script.CostUSD,
		"usage": map[string]int{
			"input_tokens": input, "cache_creation_input_tokens": input,
			"cache_read_input_tokens": input * max(s.turns-1, 0), "output_tokens": s.output,
		},
		"permission_denials": []any{},
	})
}

func (s *session) assistant(content map[string]any) error {
	return s.print(map[string]any{"type": "assistant", "parent_tool_use_id": nil, "message": map[string]any{
		"type": "message", "role": "assistant", "model": s.model, "content": []any{content},
	}})
}

func (s *session) print(event map[string]any) error {
	time.Sleep(s.pause)
	event["session_id"] = s.id
	if err := json.NewEncoder(s.out).Encode(event); err != nil {
		return fmt.Errorf("print an event: %w", err)
	}
	return nil
}

// misbehave carries out the faults that end or stop a session midway.
func (s *session) misbehave() {
	switch s.fault {
	case "crash":
		fmt.Fprintln(os.Stderr, "scriptedmodel: crashing, as the script says")
		os.Exit(crashStatus)
	case "overloaded":
		_ = s.print(map[string]any{
			"type": "result", "subtype": "success", "is_error": true, "api_error_status": 529,
			"terminal_reason": "completed", "num_turns": s.turns, "result": "API Error: Overloaded", "total_cost_usd": 0,
		}) // if the write fails, the caller still sees the exit status
		os.Exit(1)
	case "hang":
		// Not an empty select: the runtime would treat that as a deadlock and exit.
		time.Sleep(math.MaxInt64)
	}
}

// tokens is a rough count of tokens, of four bytes each.
func tokens(text string) int { return len(text) / 4 }
