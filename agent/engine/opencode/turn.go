package opencode

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// event is one line of the CLI's output. Which fields are present depends on its type. The CLI may add
// others.
type event struct {
	Type      string   `json:"type"`
	SessionID string   `json:"sessionID"`
	Error     *problem `json:"error"`
	Part      struct {
		Text      string  `json:"text"`
		Synthetic bool    `json:"synthetic"`
		Tool      string  `json:"tool"`
		Reason    string  `json:"reason"`
		Cost      float64 `json:"cost"`
		Tokens    struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		State struct {
			Input  json.RawMessage `json:"input"`
			Status string          `json:"status"`
		} `json:"state"`
	} `json:"part"`
}

// problem is the reason why a turn failed.
type problem struct {
	Name string `json:"name"`
	Data struct {
		Message    string `json:"message"`
		StatusCode int    `json:"statusCode"`
	} `json:"data"`
}

func (p *problem) class() engine.Class {
	switch p.Name {
	case "ContextOverflowError":
		return engine.ContextOverflow
	case "ContentFilterError":
		return engine.Refusal
	case "ProviderAuthError":
		return engine.Auth
	case "APIError":
		if p.Data.StatusCode == http.StatusForbidden {
			return engine.Auth // the CLI does not say who forbids it
		}
		return gateway.Refusal{Status: p.Data.StatusCode, Message: p.Data.Message}.Class()
	}
	if strings.Contains(p.Data.Message, "Model not found") {
		return engine.UnknownModel
	}
	return engine.BadOutput
}

// stopped is the reason of a step with which the model ends the turn.
const stopped = "stop"

// turn collects what the CLI prints in one turn. No line marks its end: the turn is complete if the last
// step's reason says so and nothing failed.
type turn struct {
	*session.Transcript

	id     string
	steps  int
	reason string
	// called says that the last step has called a tool.
	called  bool
	usage   verdict.Usage
	cost    float64
	failure *problem
}

// line handles one line of output.
func (t *turn) line(line []byte) error {
	var e event
	if !session.Decode(line, &e) || e.Type == "" {
		t.Report(engine.ProgressRaw, string(line))
		return nil
	}
	t.id = cmp.Or(e.SessionID, t.id)
	switch e.Type {
	case "step_start":
		t.reason, t.called = "", false
	case "text":
		if !e.Part.Synthetic {
			return t.Prose(e.Part.Text, false)
		}
	case "tool_use":
		if t.tool(e.Part.Tool, e.Part.State.Input); e.Part.State.Status == "error" {
			t.Failed("")
		}
	case "step_finish":
		t.finished(e)
	case "error":
		t.failure = cmp.Or(e.Error, &problem{Name: "an error without a reason"})
	case "reasoning":
	default:
		t.Report(engine.ProgressRaw, string(line))
	}
	return nil
}

// over reports whether the model has ended the turn. Some services give the same reason for a step whose tools the CLI
// answers with another step.
func (t *turn) over() bool { return t.reason == stopped && !t.called }

func (t *turn) tool(name string, input json.RawMessage) {
	var on struct {
		FilePath string `json:"filePath"`
		Command  string `json:"command"`
		Pattern  string `json:"pattern"`
		Path     string `json:"path"`
	}
	// A tool with other arguments is reported with all of them.
	_ = json.Unmarshal(input, &on)
	t.called = true
	t.Tool("", name, cmp.Or(on.FilePath, on.Command, on.Pattern, on.Path), string(input))
	t.Returned() // the CLI reports a call after it has ended
}

func (t *turn) finished(e event) {
	t.steps++
	t.reason = e.Part.Reason
	used := e.Part.Tokens
	t.usage.Input += used.Input
	t.usage.CacheWrite += used.Cache.Write
	t.usage.CacheRead += used.Cache.Read
	t.usage.Output += used.Output + used.Reasoning
	t.cost += e.Part.Cost
}
