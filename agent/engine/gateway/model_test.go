package gateway

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestModelIsReadFromTheRequest(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"model":"gpt-5","input":[]}`:                                       "gpt-5",
		" {\n\t\"stream\" : true , \"model\" :\r\n \"gpt-5\" } \n":           "gpt-5",
		`{"messages":[{"model":"x"},"model",["model"]],"model":"gpt-5"}`:     "gpt-5",
		`{"system":"say \"model\":\"x\" \\","text":"model","model":"gpt-5"}`: "gpt-5",
		`{"a":{"model":"x"},"b":-1.5e3,"c":null,"model":"gpt-5"}`:            "gpt-5",
		`{"messages":[{"model":"x"}]}`:                                       "",
		`{"model":"a","model":"b"}`:                                          "",
		`{"model":"a","Model":"b"}`:                                          "",
		`{"model":"a","mod\u0065l":"b"}`:                                     "",
		`{"model":"\u0061"}`:                                                 "",
		`{"model":"ä"}`:                                                      "",
		`{"model":""}`:                                                       "",
		`{"model":["a"]}`:                                                    "",
		`{"model":"a"`:                                                       "",
		`{"model":"a`:                                                        "",
		`{"model":"a"}{"model":"b"}`:                                         "",
		`[{"model":"a"}]`:                                                    "",
		"{\x00\"\x00m\x00o\x00d\x00e\x00l\x00\"\x00:\x00\"\x00a\x00\"\x00}\x00": "",
		``:               "",
		`"model"`:        "",
		`}{"model":"a"}`: "",
	} {
		if got, ok := named([]byte(body)); got != want && ok || ok != (want != "") {
			t.Errorf("%q names %q, %v; want %q", body, got, ok, want)
		}
	}
}

// FuzzNamed holds what is found against what a whole reader of JSON finds.
func FuzzNamed(f *testing.F) {
	for _, body := range []string{`{"model":"a"}`, `{"x":{"model":"b"},"model":"a"}`, `{"model":"a","Model":"b"}`,
		`{"a":"\\","model":"a\""}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		model, ok := named([]byte(body))
		var whole struct{ Model string }
		if ok && json.Valid([]byte(body)) && (json.Unmarshal([]byte(body), &whole) != nil || whole.Model != model) {
			t.Errorf("%q names %q; want %q", body, model, whole.Model)
		}
	})
}

func TestPromptCacheKeyIsReplaced(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"model":"m","prompt_cache_key":"session-1","input":[{"prompt_cache_key":"x"}]}`: `{"model":"m","prompt_cache_key":"ours",` +
			`"input":[{"prompt_cache_key":"x"}]}`,
		`{ "prompt_cache_key" : "" }`:    `{ "prompt_cache_key" : "ours" }`,
		`{"prompt_cache_key":null}`:      `{"prompt_cache_key":null}`,
		`{"a":"prompt_cache_key"}`:       `{"a":"prompt_cache_key"}`,
		`{"a":{"prompt_cache_key":"x"}}`: `{"a":{"prompt_cache_key":"x"}}`,
	} {
		if got := string(keyed([]byte(body), "ours")); got != want {
			t.Errorf("%s becomes %s", body, got)
		}
	}
}

func BenchmarkNamed(b *testing.B) {
	body := []byte(`{"input":"` + strings.Repeat(`some \"words\" in a line\n`, 40<<10) + `","model":"model-1"}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		named(body)
	}
}
