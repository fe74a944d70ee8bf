package acp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// message is a JSON-RPC request, response or notification (https://www.jsonrpc.org/specification). There is
// one on each line.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *problem        `json:"error,omitempty"`
}

// problem is the error of a failed request.
type problem acp.RequestError

// The codes of JSON-RPC and of the protocol that are used here.
const (
	methodNotFound = -32601
	invalidParams  = -32602
	authRequired   = -32000
)

// class reads the code, in which some agents put the HTTP status of the provider's answer.
func (p *problem) class() engine.Class {
	switch {
	case p.Code == authRequired:
		return engine.Auth
	case p.Code >= http.StatusBadRequest && p.Code < 600:
		return gateway.Refusal{Status: p.Code, Message: p.Message}.Class()
	}
	return engine.BadOutput
}

const stopEnd = acp.StopReasonEndTurn

// stops are the failure classes of turns by their stop reason. A turn that the model ended itself, but
// without text, is a failure too.
var stops = map[acp.StopReason]engine.Class{
	stopEnd: engine.BadOutput, acp.StopReasonMaxTokens: engine.BadOutput, acp.StopReasonMaxTurnRequests: engine.MaxTurns,
	acp.StopReasonRefusal: engine.Refusal, acp.StopReasonCancelled: engine.BadOutput,
}

// class is the failure class of a turn that ended with a stop reason. An agent that estimates that a prompt exceeds the
// model's context window gives the same reason as for an answer that is too long, but has asked the provider for nothing
// (seen in gemini 0.61.0).
func (t *turn) class() engine.Class {
	switch {
	case t.stop != acp.StopReasonMaxTokens || !t.unasked:
		return stops[t.stop]
	case t.first:
		return engine.PromptTooLarge
	}
	return engine.ContextOverflow
}

// errDone stops the agent after it has answered.
var errDone = errors.New("the turn is over")

// turn is the exchange with the agent in one turn. All of it happens in calls of Line, one after the other.
type turn struct {
	*session.Transcript
	conversation *conversation
	input        *process.Input
	// prompt is empty if the agent is only asked what it is.
	prompt string

	asked int
	// next handles the response to the last request.
	next func(result json.RawMessage) error

	agentName string
	id        string
	// talking says that the last output was prose. partial is its last line until that is complete.
	talking bool
	partial string
	// tools are the calls that have started; the value is true while they run.
	tools   map[acp.ToolCallId]bool
	steps   int
	usage   verdict.Usage
	cost    float64
	stop    acp.StopReason
	failure *problem
	// first says that nothing was said before in the session. unasked says that the provider was asked for nothing.
	first, unasked bool
}

func (c *conversation) turn(prompt string) *turn {
	return &turn{
		Transcript: session.NewTranscript(c.Request.Progress, c.Redact), conversation: c, prompt: prompt, tools: map[acp.ToolCallId]bool{},
	}
}

// begin sends the first request.
func (t *turn) begin() {
	// Nothing was written before, so there is room for this.
	_ = t.ask(acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "touchstone", Version: "1"},
		// No terminal is offered: agents ask for permission of what they run themselves.
		ClientCapabilities: acp.ClientCapabilities{
			Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: t.conversation.Request.Role == engine.Author},
		},
	}, t.initialized)
}

// ask sends a request and sets the handler of its response. There is only one request at a time.
func (t *turn) ask(method string, params any, then func(json.RawMessage) error) error {
	t.asked++
	t.next = then
	return t.send(message{ID: json.RawMessage(strconv.Itoa(t.asked)), Method: method, Params: params})
}

func (t *turn) send(m message) error {
	m.JSONRPC = "2.0"
	line, err := json.Marshal(m)
	if err == nil {
		_, err = t.input.Write(append(line, '\n'))
	}
	if err != nil {
		return engine.Errorf(engine.BadOutput, "cannot answer the agent: %v", err)
	}
	return nil
}

// line handles one line of output.
func (t *turn) line(line []byte) error {
	var m struct {
		message
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
	}
	err := json.Unmarshal(line, &m)
	switch {
	case err != nil || m.Method == "" && len(m.ID) == 0:
		t.Report(engine.ProgressRaw, string(line))
	case m.Method == acp.ClientMethodSessionUpdate:
		return t.update(m.Params)
	case m.Method != "" && len(m.ID) == 0:
		t.Report(engine.ProgressRaw, string(line))
	case m.Method != "":
		result, problem := t.answer(m.Method, m.Params)
		return t.send(message{ID: m.ID, Result: result, Error: problem})
	case string(m.ID) == strconv.Itoa(t.asked) && t.next != nil:
		next := t.next
		t.next = nil
		if t.failure = m.Error; t.failure != nil {
			return errDone
		}
		return next(m.Result)
	}
	return nil
}

func (t *turn) initialized(result json.RawMessage) error {
	var said acp.InitializeResponse
	if err := json.Unmarshal(result, &said); err != nil {
		return engine.Errorf(engine.BadOutput, "the agent's answer to initialize does not follow the protocol: %v", err)
	}
	if said.ProtocolVersion != acp.ProtocolVersionNumber {
		return engine.Errorf(engine.Invalid, "the agent speaks version %d of the Agent Client Protocol, but this program version %d; update the "+
			"older one", said.ProtocolVersion, acp.ProtocolVersionNumber)
	}
	if info := said.AgentInfo; info != nil {
		t.agentName = t.Detail(info.Name + " " + info.Version)
	}
	if t.prompt == "" {
		return errDone
	}
	c := t.conversation
	request := acp.NewSessionRequest{Cwd: c.Home.Path(workDir), McpServers: []acp.McpServer{}}
	if said.AgentCapabilities.SessionCapabilities.AdditionalDirectories != nil {
		request.AdditionalDirectories = c.dirs
	}
	return t.ask(acp.AgentMethodSessionNew, request, t.opened)
}

func (t *turn) opened(result json.RawMessage) error {
	var said acp.NewSessionResponse
	if err := json.Unmarshal(result, &said); err != nil {
		return engine.Errorf(engine.BadOutput, "the agent's answer to the start of a session does not follow the protocol: %v", err)
	}
	t.id = string(said.SessionId)
	model := t.conversation.Request.Model
	switch {
	case t.id == "":
		return engine.Errorf(engine.BadOutput, "the agent started a session without an id")
	case model == "" || said.Models != nil && string(said.Models.CurrentModelId) == model:
		return t.ready(nil)
	case said.Models == nil:
		return engine.Errorf(engine.Invalid, "the agent does not let its model be chosen; leave engine.model empty and choose it in the agent's "+
			"own command or variables")
	}
	return t.ask(acp.AgentMethodSessionSetModel,
		acp.UnstableSetSessionModelRequest{SessionId: acp.SessionId(t.id), ModelId: acp.UnstableModelId(model)}, t.ready)
}

// ready sends the prompt.
func (t *turn) ready(json.RawMessage) error {
	prompt := t.prompt
	if c := t.conversation; c.agent.files == nil {
		prompt = c.orders + "\n\n# Your task\n\n" + prompt
	} else if strings.ContainsAny(strings.TrimSpace(prompt)[:1], "/$!@#") {
		// Agents take a prompt that begins with one of these characters for a command.
		prompt = "Your task:\n\n" + prompt
	}
	return t.ask(acp.AgentMethodSessionPrompt,
		acp.PromptRequest{SessionId: acp.SessionId(t.id), Prompt: []acp.ContentBlock{acp.TextBlock(prompt)}}, t.ended)
}

func (t *turn) ended(result json.RawMessage) error {
	var said acp.PromptResponse
	if err := json.Unmarshal(result, &said); err != nil {
		return engine.Errorf(engine.BadOutput, "the agent's answer at the end of a turn does not follow the protocol: %v", err)
	}
	t.stop = said.StopReason
	if used := t.conversation.agent.used; used != nil {
		t.usage = used(said.Meta)
	}
	if u := said.Usage; u != nil {
		count := func(tokens *int) int64 {
			if tokens == nil {
				return 0
			}
			return int64(*tokens)
		}
		t.usage = verdict.Usage{
			Input: int64(u.InputTokens), CacheRead: count(u.CachedReadTokens), CacheWrite: count(u.CachedWriteTokens),
			Output: int64(u.OutputTokens) + count(u.ThoughtTokens),
		}
	}
	return errDone
}

// working reports whether a tool is running.
func (t *turn) working() bool {
	return slices.Contains(slices.Collect(maps.Values(t.tools)), true)
}

// update handles the agent's report about the session.
func (t *turn) update(params json.RawMessage) error {
	var said acp.SessionNotification
	if err := json.Unmarshal(params, &said); err != nil {
		t.Report(engine.ProgressRaw, string(params))
		return nil
	}
	u := said.Update
	switch {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		return t.prose(u.AgentMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		call := u.ToolCall
		return t.tool(call.ToolCallId, call.Kind, call.Title, call.RawInput, call.Locations, call.Status)
	case u.ToolCallUpdate != nil:
		call := u.ToolCallUpdate
		if call.Status != nil && !running(*call.Status) {
			t.returned(call.ToolCallId, *call.Status)
		}
	case u.UsageUpdate != nil && u.UsageUpdate.Cost != nil && u.UsageUpdate.Cost.Currency == "USD":
		t.cost = max(t.cost, u.UsageUpdate.Cost.Amount)
	}
	return nil
}

func running(status acp.ToolCallStatus) bool {
	return status != acp.ToolCallStatusCompleted && status != acp.ToolCallStatusFailed
}

// tool records a call, which the agent may report several times.
func (t *turn) tool(id acp.ToolCallId, kind acp.ToolKind, title string, input any, at []acp.ToolCallLocation,
	status acp.ToolCallStatus,
) error {
	if err := t.flush(); err != nil {
		return err
	}
	_, again := t.tools[id]
	t.tools[id] = true
	if !again {
		t.steps++
		var paths []string
		for _, location := range at {
			paths = append(paths, location.Path)
		}
		// Decoded data can always be encoded.
		arguments, _ := json.Marshal(input)
		target := cmp.Or(strings.Join(paths, " "), title)
		t.Tool(string(id), cmp.Or(string(kind), "tool"), target, strings.TrimPrefix(fmt.Sprintf("%s %s %s", title, target, arguments), " "))
	}
	if !running(status) {
		t.returned(id, status)
	}
	return nil
}

func (t *turn) returned(id acp.ToolCallId, status acp.ToolCallStatus) {
	t.tools[id] = false
	t.Returned()
	if status == acp.ToolCallStatusFailed {
		t.Failed(string(id))
	}
}

// maxPartial bounds, in bytes, how much of a line is kept until it is complete.
const maxPartial = 64 << 10

// prose collects the model's text and passes on whole lines, and pieces of lines that are too long.
func (t *turn) prose(text string) error {
	whole := strings.LastIndexByte(text, '\n') + 1
	if whole == 0 && len(t.partial)+len(text) > maxPartial {
		whole = len(text)
	}
	if whole == 0 {
		t.partial += text
		return nil
	}
	lines := t.partial + text[:whole]
	t.partial = text[whole:]
	goesOn := t.talking
	t.talking = true
	return t.Prose(lines, goesOn)
}

// flush passes on the last line, which is complete now.
func (t *turn) flush() error {
	text, goesOn := t.partial, t.talking
	t.partial, t.talking = "", false
	return t.Prose(text, goesOn)
}
