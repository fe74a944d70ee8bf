package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStripKeepsPropertiesThatAreNamedLikeProse(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(`{"description":"d","properties":{"description":{"type":"string","example":"e"}},"items":[{"title":"t",`+
		`"enum":["a"]}]}`), &schema); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(strip(schema, false))
	if want := `{"items":[{"enum":["a"]}],"properties":{"description":{"type":"string"}}}`; err != nil || string(got) != want {
		t.Fatalf("got %s, %v, want %s", got, err, want)
	}
}

func TestAnInstallationsAccountIsAUserOrAnEnterprise(t *testing.T) {
	var schema any
	const both = `{"allOf":[{"title":"Simple User","type":"object"},{"title":"Enterprise","type":"object"}]}`
	if err := json.Unmarshal([]byte(both), &schema); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(strip(schema, false))
	if want := `{"anyOf":[{"type":"object"},{"type":"object"}]}`; err != nil || string(got) != want {
		t.Fatalf("got %s, %v, want %s", got, err, want)
	}
}

func TestReachableFollowsReferencesInCircles(t *testing.T) {
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	components := object{"schemas": object{"a": object{"items": ref("b")}, "b": object{"anyOf": []any{ref("a")}}, "c": object{}}}
	got := reachable(components, object{"x": ref("a")})["schemas"].(object)
	if len(got) != 2 || got["a"] == nil || got["b"] == nil {
		t.Fatalf("got %v, want a and b", got)
	}
}

func TestAVanishedOperationIsAnError(t *testing.T) {
	_, err := trimOpenAPI([]byte(`{"paths":{"/user":{"post":{}}}}`))
	if err == nil || !strings.Contains(err.Error(), "get /user") {
		t.Fatal(err)
	}
	if _, err := trimWebhooks([]byte(`{"components":{"schemas":{}}}`)); err == nil || !strings.Contains(err.Error(), "ping") {
		t.Fatal(err)
	}
}

func TestTrimGraphQLDropsProseAndFieldsDeclaredTwice(t *testing.T) {
	got, err := trimGraphQL([]byte("\"\"\"Prose\"\"\" type A {\n \"more\" x: Int\n y: Int\n x: Int\n}"))
	if err != nil || strings.Count(string(got), "x: Int") != 1 || strings.Contains(string(got), "rose") ||
		strings.Contains(string(got), "more") {
		t.Fatalf("%v: %s", err, got)
	}
}
