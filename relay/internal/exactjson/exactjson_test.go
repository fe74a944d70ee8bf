package exactjson_test

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"touchstone/relay/internal/exactjson"
	"touchstone/relay/internal/examples"
)

type shape struct {
	Action     string    `json:"action"`
	Number     int       `json:"number"`
	At         time.Time `json:"at"`
	Repository struct {
		FullName string `json:"full_name"`
		ID       int    `json:"id"`
	} `json:"repository"`
	List []struct {
		Login string `json:"login"`
	} `json:"list"`
	Sender *struct {
		Login string `json:"login"`
	} `json:"sender"`
}

// Whatever Decode accepts is JSON for encoding/json too, which subscribers read with.
func TestReadsOnlyWhatEncodingJSONCallsValid(t *testing.T) {
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	bodies := append(odd, deep(9_999), deep(10_000), deep(10_001), deep(10_002), `{"action":"\x"}`, "{\"action\":\"\x01\"}", `01`,
		`1e999`, `-0`)
	for _, body := range bodies {
		if exactjson.Decode([]byte(body), new(shape)) == nil && !stdjson.Valid([]byte(body)) {
			t.Errorf("%.80q is read, and is not valid", body)
		}
	}
}

// inTwoPasses does the same with encoding/json, for comparison.
func inTwoPasses(body []byte, v any) error {
	err := json.Unmarshal(body, v, jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))
	if errors.As(err, new(*jsonv1.UnmarshalTypeError)) {
		return nil
	}
	return err
}

func compare(t *testing.T, body []byte) {
	t.Helper()
	var got, want shape
	gotErr, wantErr := exactjson.Decode(body, &got), inTwoPasses(body, &want)
	if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%q: got %+v, %v; want %+v, %v", body, got, gotErr, want, wantErr)
	}
}

var odd = []string{
	``, `null`, `[]`, `{}`, `{`, `{} {}`, `{"action":"a"} x`, `{"action":1,"number":2}`, `{"number":"x","action":"a"}`, `{"number":1e3}`,
	`{"number":1.5,"action":"a"}`, `{"action":"a","action":"b"}`, `{"action":"a","action":null}`, `{"Action":"a","ACTION":"b"}`,
	"{\"action\":\"\xff\"}", `{"action":"\ud800"}`, `{"repository":[1],"action":"a"}`, `{"repository":{"full_name":1,"id":2}}`,
	`{"repository":{"id":1},"repository":{"full_name":"a"}}`, `{"list":[{"login":"a"},1,{"login":"b"}]}`,
	`{"list":[{"login":"a"}],"list":[{}]}`,
	`{"sender":{"login":"a"},"sender":null}`, `{"at":"x","action":"a"}`, `{"at":"2026-11-23T00:00:00Z"}`, `{"number":99999999999999999999}`,
	"\ufeff{}", `{"action":"a",}`, `{'action':1}`,
}

// One pass reads the same as two.
func TestOnePassReadsTheSame(t *testing.T) {
	for _, body := range odd {
		compare(t, []byte(body))
	}
	for _, example := range examples.All(t) {
		compare(t, example.Payload)
	}
	var v shape
	if err := exactjson.Decode([]byte(`{"Action":"a","number":"x","repository":{"full_name":"acme/app"}}`), &v); err != nil ||
		v.Action != "" || v.Repository.FullName != "acme/app" {
		t.Errorf("read %+v, %v", v, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, body := range odd {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { compare(t, body) })
}

func BenchmarkDecode(b *testing.B) {
	all := examples.All(b)
	for name, decode := range map[string]func([]byte, *shape) error{
		"one pass": exactjson.Decode[shape], "two": func(body []byte, v *shape) error { return inTwoPasses(body, v) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, example := range all {
					if err := decode(example.Payload, new(shape)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
