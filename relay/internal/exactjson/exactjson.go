// Package exactjson reads the JSON of webhooks by the members' exact names: by what it says, events
// are kept from subscribers, so another spelling must not count.
package exactjson

import (
	"errors"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options are those of encoding/json, but for the names.
var options = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))

// Decode reads JSON into what v has of it. A value of another type than v's is left out and no
// error. What is not JSON is one; then v is not to be used.
func Decode[T any](body []byte, v *T) error {
	// One pass suffices for what has v's shape. For the rest, the JSON is checked as a whole first, and
	// reading goes on behind a value of the wrong type.
	if json.Unmarshal(body, v, options, jsonv1.ReportErrorsWithLegacySemantics(false)) == nil {
		return nil
	}
	*v = *new(T)
	err := json.Unmarshal(body, v, options)
	if errors.As(err, new(*jsonv1.UnmarshalTypeError)) {
		return nil
	}
	return err
}
