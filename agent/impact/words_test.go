package impact

import (
	"slices"
	"strings"
	"testing"
)

func TestDefinitionsAreIndexedInEachLanguage(t *testing.T) {
	for line, want := range map[string]string{
		"func (s *Store) Open(name string) error {":              "Open",
		"    public static List<int> Split(int n)":               "Split",
		"  async load(name) {":                                   "load",
		"T take<T>({":                                            "take",
		"void App::Post(Task task) {":                            "Post",
		"defmodule Tesla.OpenAPI.PathParam do":                   "Tesla OpenAPI PathParam",
		"class Kamal::Configuration::Volume":                     "Kamal Configuration Volume",
		"LIMIT = 3":                                              "LIMIT",
		"  static final int MOST = 3;":                           "MOST",
		"  return Open(name)":                                    "",
		"  if (ready) {":                                         "",
		"  x = await load(name)":                                 "",
		"  type: String(name),":                                  "",
		"  Terminal::Size(n);":                                   "",
		"  store.open(a).then(b) {":                              "",
		"  int n = a > size(b);":                                 "",
		strings.Repeat("x", 3) + " " + strings.Repeat("y(", 600): "",
	} {
		var got []string
		words := wordsOf([]byte(line), nil)
		for _, name := range parts(line) {
			if slices.Contains(words, defined(name)) && !slices.Contains(got, name) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: defines %q", line, got)
		}
	}
}

func TestOtherPeoplesAndGeneratedFilesAreNotSearched(t *testing.T) {
	for name, want := range map[string]bool{
		"Pods/A/B.swift": true, "web/node_modules/a/b.js": true, "gems.locked": true, "bun.lockb": true, "db/changelogs/1.xml": true,
		"a.pb.go": true, "CHANGES.md": true, "js/app.min.js": true, "module.sum": true,
		"pkg/pods/pod.go": false, "changelog.go": false, "internal/lock.go": false, "changes/a.go": false,
	} {
		if passed(name) != want {
			t.Errorf("%s is not searched: %t, want %t", name, !want, want)
		}
	}
}
