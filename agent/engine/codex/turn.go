package codex

import (
	"cmp"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// event is one line of the CLI's output. Which fields are present depends on its type. The CLI may add
// others.
type event struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Message string `json:"message"`
		Command string `json:"command"`
		Changes []struct {
			Path string `json:"path"`
		} `json:"changes"`
	} `json:"item"`
	Usage struct {
		Input      int64 `json:"input_tokens"`
		CacheRead  int64 `json:"cached_input_tokens"`
		CacheWrite int64 `json:"cache_write_input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
}

// turn collects what the CLI prints in one turn.
type turn struct {
	*session.Transcript

	id string
	// running counts the commands that have started and not ended.
	running int
	// answered says that the model has answered or acted in this turn.
	answered bool
	steps    int
	usage    verdict.Usage
	// completed and failed are the CLI's last report about the turn. failure is its message.
	completed, failed bool
	failure           string
}

// line handles one line of output.
func (t *turn) line(line []byte) error {
	var e event
	if !session.Decode(line, &e) || e.Type == "" {
		t.Report(engine.ProgressRaw, string(line))
		return nil
	}
	switch e.Type {
	case "thread.started":
		t.id = e.ThreadID
	case "turn.started", "item.updated":
	case "item.started":
		t.begun(e)
	case "item.completed":
		return t.done(e)
	case "error":
		t.failure = cmp.Or(e.Message, t.failure)
		t.Report(engine.ProgressRetry, e.Message)
	case "turn.failed":
		t.failed, t.completed = true, false
		t.failure = cmp.Or(e.Error.Message, t.failure)
	case "turn.completed":
		t.completed = true
		u := e.Usage
		// The CLI's input count includes tokens that were read from the cache or written to it.
		t.usage = verdict.Usage{Input: max(u.Input-u.CacheRead-u.CacheWrite, 0), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
			Output: u.Output}
	default:
		t.Report(engine.ProgressRaw, string(line))
	}
	return nil
}

// working reports whether a command is running.
func (t *turn) working() bool { return t.running > 0 }

func (t *turn) begun(e event) {
	switch e.Item.Type {
	case "command_execution":
		t.running++
		t.Tool("", "command", e.Item.Command, e.Item.Command)
	case "file_change":
		var paths []string
		for _, change := range e.Item.Changes {
			paths = append(paths, change.Path)
		}
		edited := strings.Join(paths, " ")
		t.Tool("", "edit", edited, edited)
	}
}

func (t *turn) done(e event) error {
	switch e.Item.Type {
	case "agent_message":
		t.answered = true
		t.steps++
		return t.Prose(e.Item.Text, false)
	case "command_execution", "file_change":
		t.answered = true
		t.steps++
		if e.Item.Type == "command_execution" {
			t.running--
		}
		t.Returned()
	case "error":
		// A warning: what makes the turn fail is an event of its own.
		t.Report(engine.ProgressRaw, e.Item.Message)
	case "reasoning", "todo_list":
	default:
		t.Report(engine.ProgressRaw, "item "+e.Item.Type)
	}
	return nil
}
