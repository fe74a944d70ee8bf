package enginetest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"touchstone/verdict"
)

// Fault is a reason to refuse a request.
type Fault string

const (
	Unauthorized Fault = "unauthorized" // the login is not accepted
	Forbidden    Fault = "forbidden"    // the login may not do this
	NoCredit     Fault = "no credit"    // the account is empty
	TooMany      Fault = "too many"     // the account asks too often
	Overloaded   Fault = "overloaded"   // no capacity for anyone
	Broken       Fault = "broken"       // the provider failed
	NoSuchModel  Fault = "no such model"
	TooLong      Fault = "too long"  // the conversation exceeds the model's context
	Malformed    Fault = "malformed" // the request makes no sense
)

// refusal is a fault in an API's own words. kind is the API's type or code.
type refusal struct {
	status        int
	kind, message string
}

func refuse(w http.ResponseWriter, d dialect, words refusal, retryAfter time.Duration) {
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(words.status)
	// An error means that the client is gone.
	_ = json.NewEncoder(w).Encode(d.problem(words))
}

// openAI is what the Responses and the chat API share.
type openAI struct{}

func (openAI) bill(c *promptCache, body []byte, p prompt) verdict.Usage {
	key, _ := field(body, "prompt_cache_key").(string)
	return c.openAI(modelOf(body)+" "+key, p)
}

// refusals are those of https://platform.openai.com/docs/guides/error-codes.
func (openAI) refusals() map[Fault]refusal {
	return map[Fault]refusal{
		Unauthorized: {401, "invalid_api_key", "Incorrect API key provided."},
		Forbidden:    {403, "unsupported_country_region_territory", "Country, region, or territory not supported"},
		NoCredit:     {429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
		TooMany:      {429, "rate_limit_exceeded", "Rate limit reached for requests"},
		Overloaded:   {503, "server_is_overloaded", "The engine is currently overloaded, please try again later"},
		Broken:       {500, "server_error", "The server had an error while processing your request"},
		NoSuchModel:  {404, "model_not_found", "The model `nope` does not exist or you do not have access to it."},
		TooLong: {400, "context_length_exceeded",
			"Your input exceeds the context window of this model. Please adjust your input and try again."},
		Malformed: {400, "invalid_value", "Invalid value: 'bogus'."},
	}
}

func (openAI) problem(words refusal) any {
	return map[string]any{"error": map[string]any{
		"message": words.message, "type": words.kind, "param": nil, "code": words.kind,
	}}
}
