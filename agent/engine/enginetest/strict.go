package enginetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// reasons matches OpenAI's reasoning models, which accept fewer parameters than the others.
var reasons = regexp.MustCompile(`^(gpt-5|o[1-9])`)

// unsupported refuses a parameter that a model does not accept.
func unsupported(parameter, instead string) *refusal {
	return &refusal{400, "unsupported_parameter",
		fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model. Use '%s' instead.", parameter, instead)}
}

// objection refuses what this API of OpenAI refuses for these models
// (https://github.com/vercel/ai/issues/7863, https://github.com/openai/codex/issues/1346).
func (chat) objection(body []byte) *refusal {
	var request struct {
		Model     string `json:"model"`
		MaxTokens *int   `json:"max_tokens"`
	}
	// An unreadable request is answered nevertheless, here and below.
	_ = json.Unmarshal(body, &request)
	switch {
	case reasons.MatchString(request.Model) && strings.Contains(request.Model, "codex"):
		return &refusal{404, "invalid_request_error", "This is not a chat model and thus not supported in the v1/chat/completions endpoint."}
	case reasons.MatchString(request.Model) && request.MaxTokens != nil:
		return unsupported("max_tokens", "max_completion_tokens")
	}
	return nil
}

// objection refuses parameters of the older API, and references to items that the API was told not to store
// (https://github.com/vercel/ai/issues/7543).
func (responses) objection(body []byte) *refusal {
	var request struct {
		Model       string           `json:"model"`
		MaxTokens   *int             `json:"max_tokens"`
		Temperature *float64         `json:"temperature"`
		Store       *bool            `json:"store"`
		Input       []map[string]any `json:"input"`
	}
	_ = json.Unmarshal(body, &request)
	switch {
	case request.MaxTokens != nil:
		return unsupported("max_tokens", "max_output_tokens")
	case reasons.MatchString(request.Model) && request.Temperature != nil:
		return unsupported("temperature", "reasoning")
	case request.Store == nil || *request.Store:
		return nil
	}
	for _, item := range request.Input {
		kept, _ := item["encrypted_content"].(string)
		if item["type"] == "item_reference" || item["type"] == "reasoning" && kept == "" {
			return &refusal{404, "invalid_request_error",
				fmt.Sprintf("Item with id '%v' not found. Items are not persisted when `store` is set to false.", item["id"])}
		}
	}
	return nil
}

// objection is nil: this API accepts everything that its CLIs send.
func (messages) objection([]byte) *refusal { return nil }
