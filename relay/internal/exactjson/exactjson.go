// Package exactjson decodes the JSON of webhooks by the members' exact names. The decoded fields decide which
// events are kept from a subscriber, so a name in another spelling must not count.
package exactjson

import (
	"errors"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options are those of encoding/json, except for the names.
var options = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))

// Decode decodes JSON into the fields of v. It skips a value whose type differs from v's without an error.
// Invalid JSON is an error; v must not be used then.
func Decode[T any](body []byte, v *T) error {
	// One pass is enough for JSON of v's shape. For other JSON, the second call first checks that all of it
	// is valid, and goes on after a value of the wrong type.
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
