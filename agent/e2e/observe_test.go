package e2e

import (
	"encoding/json"
	"os"

	"touchstone/verdict/decide"
)

// looked reports whether an agent has looked at a pull request since it started, which it does with GraphQL.
func (w *world) looked(role decide.Role) bool {
	m := w.agents[role]
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.looks > 0
}

// sessions counts the model's sessions in a role so far.
func (w *world) sessions(role decide.Role) int {
	w.t.Helper()
	data, err := os.ReadFile(w.script + ".runs")
	runs := map[decide.Role]int{}
	if err == nil {
		err = json.Unmarshal(data, &runs)
	}
	if err != nil {
		return 0 // not there yet, or being written right now
	}
	return runs[role]
}

// graphql asks GitHub in somebody's name.
func (w *world) graphql(login, query string, variables map[string]any) {
	w.t.Helper()
	client := w.As(login)
	request, err := client.NewRequest("POST", w.URL+"/api/graphql", map[string]any{"query": query, "variables": variables})
	w.must(err)
	var answer struct{ Errors []any }
	_, err = client.Do(w.Ctx, request, &answer)
	w.must(err)
	if len(answer.Errors) > 0 {
		w.t.Fatalf("%v", answer.Errors)
	}
}
