package forge

import (
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	app := Repo{"acme", "app"}
	for _, test := range []struct {
		arg  string
		def  Repo
		want string // empty means an error
	}{
		{"12", app, "acme/app#12"},
		{"#12", app, "acme/app#12"},
		{"octo/cat#7", app, "octo/cat#7"},
		{"octo-cat_acme/a.b_c-d#7", Repo{}, "octo-cat_acme/a.b_c-d#7"},
		{"https://github.com/octo/cat/pull/7", app, "octo/cat#7"},
		{"https://github.com/octo/cat/pull/7/files?w=1#diff-1", app, "octo/cat#7"},
		{"http://127.0.0.1:8090/octo/cat/pull/7/", Repo{}, "octo/cat#7"},
		{"12", Repo{}, ""},
		{"", app, ""},
		{"#", app, ""},
		{"0", app, ""},
		{"-1", app, ""},
		{"+1", app, ""},
		{"1e3", app, ""},
		{"99999999999", app, ""},
		{"octo/cat", app, ""},
		{"octo/cat#", app, ""},
		{"octo/cat#x", app, ""},
		{"octo/../cat#1", app, ""},
		{"octo/..#1", app, ""},
		{"-octo/cat#1", app, ""},
		{"octo cat/x#1", app, ""},
		{"https://github.com/octo/cat/issues/7", app, ""},
		{"https://github.com/octo/cat/pull/", app, ""},
		{"https://github.com/%2e%2e/cat/pull/7", app, ""},
		{"https://[bad/octo/cat/pull/7", app, ""},
	} {
		ref, err := ParseRef(test.arg, test.def)
		switch {
		case test.want == "" && err == nil:
			t.Errorf("%q is taken for %s", test.arg, ref)
		case test.want == "" && !strings.ContainsAny(err.Error(), "#/"):
			t.Errorf("%q: %v; the error shows no way to write it", test.arg, err)
		case test.want != "" && (err != nil || ref.String() != test.want):
			t.Errorf("%q: %s, %v; want %s", test.arg, ref, err, test.want)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{"12", "#12", "acme/app#12", "https://github.com/acme/app/pull/12", "a/b/c#1", "https://x/a/b/pull/1#2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		ref, err := ParseRef(arg, Repo{"acme", "app"})
		if err != nil {
			return
		}
		again, err := ParseRef(ref.String(), Repo{})
		if err != nil || again != ref || ref.Number < 1 {
			t.Errorf("%q is %+v, which reads as %+v, %v", arg, ref, again, err)
		}
	})
}
