package token

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"touchstone/relay/event"
)

func mint(t *testing.T, name string, scope event.Filter) (Token, string) {
	t.Helper()
	made, text, err := New(name, Subscriber, scope)
	if err != nil {
		t.Fatal(err)
	}
	return made, text
}

func TestANewTokenIsUniqueAndStoredOnlyAsAHash(t *testing.T) {
	made, text := mint(t, "laptop-1", event.Filter{Sources: []string{"github"}, Repos: []string{"acme/*"}})
	id, secret, ok := event.SplitToken(text, event.TokenPrefix)
	if !ok || id != made.ID || !made.matches(secret) {
		t.Errorf("%s was made as %+v and reads as %s", text, made, id)
	}
	other, otherText := mint(t, "laptop-1", event.Filter{})
	if other.ID == made.ID || otherText == text || other.matches(secret) {
		t.Error("two tokens are alike")
	}
	stored, err := json.Marshal(made)
	if err != nil || strings.Contains(string(stored), secret) {
		t.Errorf("the stored form %s gives the secret away (%v)", stored, err)
	}
	if bits := len(secret) * 5; bits < 256 {
		t.Errorf("the secret has %d bits", bits)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		name  string
		role  Role
		scope event.Filter
	}{
		"no name":        {"", Subscriber, event.Filter{}},
		"name of lines":  {"a\nb", Subscriber, event.Filter{}},
		"name too long":  {strings.Repeat("a", 65), Subscriber, event.Filter{}},
		"unknown role":   {"a", "root", event.Filter{}},
		"broken glob":    {"a", Admin, event.Filter{Repos: []string{"["}}},
		"empty source":   {"a", Admin, event.Filter{Sources: []string{""}}},
		"too many repos": {"a", Admin, event.Filter{Repos: make([]string, 101)}},
	} {
		if _, _, err := New(test.name, test.role, test.scope); err == nil {
			t.Errorf("%s: made", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	_, text, err := New("a", Subscriber, event.Filter{})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{text, text + "a", strings.ToUpper(text), strings.ReplaceAll(text, "_", "-"), "rly__", "rly_", "",
		"rly_aaaaaaaa_\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, secret, ok := event.SplitToken(text, event.TokenPrefix)
		if ok && event.TokenPrefix+id+"_"+secret != text {
			t.Errorf("%q reads as %s and %s", text, id, secret)
		}
	})
}

func FuzzDecode(f *testing.F) {
	made, _, err := New("a", Admin, event.Filter{Repos: []string{"acme/*"}})
	if err != nil {
		f.Fatal(err)
	}
	good, err := encode([]Token{made})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(good), `{}`, `{"tokens":[{}]}`, `{"tokens":null}{}`, `[]`, "",
		`{"tokens":[{"id":"aaaaaaaa","scope":"*"}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, err := decode(text)
		if err != nil {
			return
		}
		again, err := encode(tokens)
		if err != nil {
			t.Fatal(err)
		}
		same, err := decode(again)
		if err != nil || len(same) != len(tokens) || len(tokens) > 0 && !reflect.DeepEqual(same, tokens) {
			t.Errorf("%s reads as %+v and then as %+v (%v)", text, tokens, same, err)
		}
	})
}
