package verdict_test

import (
	"fmt"
	"strings"

	"touchstone/verdict"
)

// The marker alone approves nothing: it has to stand below this run's nonce
// and agree with the answer's data, and these with the rules and the code.
func ExampleJudge() {
	answer := strings.Join([]string{
		"The handler ignores an error.",
		"```" + verdict.Fence,
		`{"summary": "One error is lost.", "dimensions": [], "files": ["main.go"], "findings": [`,
		`  {"dimension": "Observability", "severity": "nit", "rule": "observability/O1", "path": "main.go", "line": 12,`,
		`   "quote": "_ = save()", "claim": "the error is dropped"}]}`,
		"```",
		verdict.RunLine("b7x2"),
		verdict.Marker(verdict.Approve),
	}, "\n")
	j := verdict.Judge(answer, "b7x2", verdict.Grounds{
		Changed: []string{"main.go"},
		Rows:    map[string]verdict.Severity{"observability/O1": verdict.Major},
		File:    func(string) ([]byte, error) { return []byte("package main\n\nfunc main() {\n\t_ = save()\n}\n"), nil },
	})
	fmt.Println(j.Verdict)
	f := j.Answer.Findings[0]
	fmt.Printf("%s on line %d\n", f.Severity, f.Line)
	fmt.Println(j.Doubts[len(j.Doubts)-1])
	// Output:
	// REQUEST_CHANGES
	// major on line 4
	// The session concluded APPROVE although 1 of its findings blocks.
}
