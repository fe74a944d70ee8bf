package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"touchstone/guidelines"
)

func TestARepositorysSettingsAreReadOrRefused(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		wants func(*Repository)
	}{
		"nothing":       {"", func(*Repository) {}},
		"only comments": {"# review:\n", func(*Repository) {}},
		"an empty list": {"review: {skip: []}\nverify: {command: []}", func(r *Repository) { r.Verify.Command = []string{} }},
		"a part": {"review: {ratchet: true}\nmerge: {auto: false}\n",
			func(r *Repository) { r.Review.Ratchet, r.Merge.Auto = true, false }},
		"a mark": {"\ufeffverify: {command: [make, test], timeout: 90s, reports: ['out/**/*.xml']}\n", func(r *Repository) {
			r.Verify = RepositoryVerify{[]string{"make", "test"}, Duration(90 * time.Second), []string{"out/**/*.xml"}}
		}},
		"the example": {RepositoryExample, func(r *Repository) {
			r.Verify.Command, r.Verify.Reports, r.Merge.Checks = []string{}, []string{}, []string{}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRepository([]byte(test.text))
			want := DefaultRepository()
			test.wants(&want)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestTheRepositorysExampleIsComplete(t *testing.T) {
	var keys map[string]any
	if err := yaml.Unmarshal([]byte(RepositoryExample), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range unmentioned(reflect.TypeFor[Repository](), keys, "") {
		t.Errorf("the example does not mention %s", key)
	}
}

// TestErrorNamesEachKeyThatARepositoryMaySet checks that the error lists all keys, since users of an
// installed program have no example file next to it.
func TestErrorNamesEachKeyThatARepositoryMaySet(t *testing.T) {
	var keys []string
	for section := range reflect.TypeFor[Repository]().Fields() {
		for setting := range section.Type.Fields() {
			keys = append(keys, section.Tag.Get("yaml")+"."+setting.Tag.Get("yaml"))
		}
	}
	last := len(keys) - 1
	if want := strings.Join(keys[:last], ", ") + " and " + keys[last]; repositoryKeys != want {
		t.Errorf("got  %s\nwant %s", repositoryKeys, want)
	}
}

func TestScopesOfARepository(t *testing.T) {
	r, err := ParseRepository([]byte("review:\n  sensitive: ['payments/**', ci]\n  skip: ['**/*.pb.go !payments/**']\nmerge: {manual: " +
		"[migration]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	about := func(s Scope, path string) bool {
		applies, _ := s.Applies(guidelines.Change{Files: []guidelines.File{{Path: path}}})
		return applies
	}
	for _, test := range []struct {
		scope Scope
		path  string
		want  bool
	}{
		{r.Review.Sensitive, "payments/charge.go", true},
		{r.Review.Sensitive, ".github/workflows/test.yml", true},
		{r.Review.Sensitive, "store/store.go", false},
		{r.Review.Skip, "api/v1.pb.go", true},
		{r.Review.Skip, "payments/v1.pb.go", false},
		{r.Merge.Manual, "db/migrations/1.sql", true},
		{r.Merge.Manual, "payments/charge.go", false},
		{Scope{}, "payments/charge.go", false},
	} {
		if got := about(test.scope, test.path); got != test.want {
			t.Errorf("%q is about %s: %v", test.scope.String(), test.path, got)
		}
	}
}

func TestABrokenRepositoryFileIsASentence(t *testing.T) {
	reports := func(pattern string) string { return "verify: {command: [make], reports: ['" + pattern + "']}" }
	for text, says := range map[string]string{
		"reviews: {}":                                        `unknown field "reviews"`,
		"review: {sensitiv: [a/**]}":                         `unknown field "sensitiv", did you mean "sensitive"?`,
		"review: {sensitive: [auth]}":                        `the scope "auth": "auth" cannot be decided`,
		"review: {skip: ['/etc/**']}":                        "it is a whole path from the repository's root",
		"review: {skip: 'a/**'}":                             "skip: it takes a list",
		"review: {ratchet: perhaps}":                         "line 1:19: ratchet: it takes true or false",
		"verify: {timeout: soon}":                            "line 1:19: timeout: it takes a time",
		"verify: {timeout: 0s}":                              "verify.timeout is 0s",
		"verify: {timeout: 3h}":                              "at most 2h0m0s",
		`verify: {command: [make, "te\0st"]}`:                "cannot contain a NUL",
		"verify: {command: ['', test]}":                      "verify.command must begin with a program",
		"verify: {reports: [out/*.xml]}":                     "needs a verify.command",
		"verify: {command: [make], reports: ['/tmp/*.xml']}": `verify.reports has "/tmp/*.xml"`,
		"verify: {command: [make], reports: ['out/[.xml']}":  `verify.reports has "out/[.xml"`,
		reports(strings.Repeat("{a,b}", 4)):                  `verify.reports has "{a,b}`,
		reports(strings.Repeat("**/", 4) + "x"):              `verify.reports has "**/`,
		reports(strings.Repeat("a", 201)):                    `verify.reports has "aaa`,
		"verify: {command: [make], reports: [../*.xml]}":     "relative to the repository's root",
		"merge: {auto: true}\n---\nx: 1":                     "several documents",
		"review: [":                                          "correct it on the base branch: its keys are review.sensitive, review.skip,",
		"review: &a [*a]":                                    "",
		strings.Repeat("# x\n", 1<<15):                       "longer than 65536 bytes",
	} {
		_, err := ParseRepository([]byte(text))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), RepositoryPath) ||
			!strings.Contains(err.Error(), "on the base branch") || strings.Contains(err.Error(), "example.yaml") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// FuzzParseRepository: any file of a repository is refused or can be acted on.
func FuzzParseRepository(f *testing.F) {
	for _, seed := range []string{"", "---", "review: {skip: [\"**\"]}", "review: &a [*a]", "merge: {manual: [ci, '!ci']}",
		"verify: {command: [\"\\x00\"]}", "<<: {merge: {auto: false}}", "review: {skip: [[a]]}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := ParseRepository(content)
		if err != nil {
			return
		}
		if r.Verify.Timeout <= 0 || len(r.Verify.Command) > 0 && r.Verify.Command[0] == "" {
			t.Errorf("%q: %+v", content, r)
		}
		r.Review.Skip.Applies(guidelines.Change{Files: []guidelines.File{{Path: "a.go"}}})
	})
}
