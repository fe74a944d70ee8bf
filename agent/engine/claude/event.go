package claude

import (
	"encoding/json"
	"time"
)

// event is one line of the stream-json output. Which fields are present depends on its type. The CLI may add
// others.
type event struct {
	Type            string          `json:"type"`
	Subtype         string          `json:"subtype"`
	SessionID       string          `json:"session_id"`
	Model           string          `json:"model"`
	ParentToolUseID string          `json:"parent_tool_use_id"`
	Message         json.RawMessage `json:"message"`

	// In an assistant event that reports a failure, and in a retry.
	Error    string `json:"error"`
	APIError string `json:"api_error"`

	// In system/api_retry.
	Attempt      int     `json:"attempt"`
	MaxRetries   int     `json:"max_retries"`
	RetryDelayMS float64 `json:"retry_delay_ms"`
	ErrorStatus  int     `json:"error_status"`

	// In a stream_event: the provider's own event.
	Stream json.RawMessage `json:"event"`

	outcome
}

// streamed is the provider's own event inside a stream_event.
type streamed struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
}

// retryDelay is the wait before a retry, at most a day.
func (e event) retryDelay() time.Duration {
	const day = 24 * time.Hour
	return time.Duration(min(max(e.RetryDelayMS, 0), float64(day.Milliseconds()))) * time.Millisecond
}

// outcome is the content of the result line. IsError is kept as raw JSON: only the literal false says that
// there was no error.
type outcome struct {
	IsError        json.RawMessage `json:"is_error"`
	APIErrorStatus int             `json:"api_error_status"`
	TerminalReason string          `json:"terminal_reason"`
	StopReason     string          `json:"stop_reason"`
	Result         string          `json:"result"`
	NumTurns       int             `json:"num_turns"`
	CostUSD        float64         `json:"total_cost_usd"`
	Usage          struct {
		Input      int64 `json:"input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
}

// message is the model's turn in an assistant event.
type message struct {
	Model   string    `json:"model"`
	Content []content `json:"content"`
}

type content struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	ID    string          `json:"id"`
	// Of and Failed are of a tool's result.
	Of     string `json:"tool_use_id"`
	Failed bool   `json:"is_error"`
}

// target is the object of a tool call.
type target struct {
	FilePath string `json:"file_path"`
	Path     string `json:"path"`
	Pattern  string `json:"pattern"`
	Command  string `json:"command"`
}
