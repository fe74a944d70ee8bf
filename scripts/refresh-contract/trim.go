package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

type object = map[string]any

// kept lists the operations that the simulator serves: on each line a path, then its methods.
//
//go:embed kept/operations.txt
var kept string

// keptWebhooks lists the webhooks that the simulator sends.
//
//go:embed kept/webhooks.txt
var keptWebhooks string

// prose holds the keys of a description that no validator reads.
var prose = []string{
	"description", "summary", "example", "examples", "externalDocs", "tags", "title",
	"x-github", "x-github-breaking-changes", "x-multi-segment", "deprecated", "deprecationDate", "removalDate",
}

// trimOpenAPI keeps the operations in kept, and the components that they reach.
func trimOpenAPI(src []byte) ([]byte, error) {
	var doc object
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	all := doc["paths"].(object)
	paths := object{}
	for line := range strings.SplitSeq(strings.TrimSpace(kept), "\n") {
		path, methods, _ := strings.Cut(line, " ")
		item, ok := all[path].(object)
		if !ok {
			return nil, fmt.Errorf("GitHub no longer describes %s", path)
		}
		trimmed := object{}
		for method := range strings.FieldsSeq(methods) {
			if item[method] == nil {
				return nil, fmt.Errorf("GitHub no longer describes %s %s", method, path)
			}
			trimmed[method] = strip(item[method], false)
		}
		paths[manySegments.Replace(path)] = trimmed
	}
	components := strip(doc["components"], false).(object)
	return json.Marshal(object{
		"openapi":    doc["openapi"],
		"info":       object{"title": "GitHub REST API, trimmed", "version": doc["info"].(object)["version"]},
		"paths":      paths,
		"components": reachable(components, paths),
	})
}

// manySegments marks the path parameters that contain slashes, for the router.
var manySegments = strings.NewReplacer("{path}", "{path:.*}", "git/ref/{ref}", "git/ref/{ref:.+}",
	"git/refs/{ref}", "git/refs/{ref:.+}", "commits/{ref}", "commits/{ref:.+}", "{basehead}", "{basehead:.+}")

// trimWebhooks keeps one schema for each event and action in keptWebhooks.
func trimWebhooks(src []byte) ([]byte, error) {
	var doc object
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	components := strip(doc["components"], false).(object)
	schemas := components["schemas"].(object)
	roots := object{}
	for name := range strings.FieldsSeq(keptWebhooks) {
		if schemas["webhook-"+name] == nil {
			return nil, fmt.Errorf("GitHub no longer describes the webhook %s", name)
		}
		roots["webhook-"+name] = object{"$ref": "#/components/schemas/webhook-" + name}
	}
	return json.Marshal(object{
		"openapi":    "3.0.3",
		"info":       object{"title": "GitHub webhooks, trimmed", "version": doc["info"].(object)["version"]},
		"paths":      object{},
		"components": reachable(components, roots),
	})
}

// trimGraphQL removes descriptions, and the fields that EnterpriseOwnerInfo declares twice, which the parser
// refuses.
func trimGraphQL(src []byte) ([]byte, error) {
	doc, err := parser.ParseSchema(&ast.Source{Name: "schema.graphql", Input: string(src)})
	if err != nil {
		return nil, err
	}
	for _, def := range doc.Definitions {
		seen := map[string]bool{}
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool {
			again := seen[f.Name]
			seen[f.Name] = true
			return again
		})
	}
	var out strings.Builder
	formatter.NewFormatter(&out, formatter.WithoutDescription(), formatter.WithIndent(" ")).FormatSchemaDocument(doc)
	return []byte(out.String()), nil
}

// strip removes prose. Below "properties" the keys are names, not keywords.
func strip(node any, names bool) any {
	switch node := node.(type) {
	case object:
		out := object{}
		for key, value := range node {
			if key == "allOf" && eitherOwner(value) {
				key = "anyOf"
			}
			if !names && slices.Contains(prose, key) {
				continue
			}
			out[key] = strip(value, !names && key == "properties")
		}
		return out
	case []any:
		for i := range node {
			node[i] = strip(node[i], false)
		}
	}
	return node
}

// eitherOwner finds where the description requires an installation's account to be a user and an enterprise
// at once; other parts of the description say that it is one of them.
func eitherOwner(all any) bool {
	titles := map[any]bool{}
	parts, _ := all.([]any)
	for _, part := range parts {
		if schema, ok := part.(object); ok {
			titles[schema["title"]] = true
		}
	}
	return titles["Simple User"] && titles["Enterprise"]
}

// reachable returns the components that root refers to, directly or not.
func reachable(components, root object) object {
	out := object{}
	var visit func(node any)
	visit = func(node any) {
		switch node := node.(type) {
		case object:
			if ref, ok := node["$ref"].(string); ok {
				kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
				group, _ := out[kind].(object)
				if group == nil {
					group = object{}
					out[kind] = group
				}
				if group[name] == nil {
					group[name] = components[kind].(object)[name]
					visit(group[name])
				}
			}
			for _, value := range node {
				visit(value)
			}
		case []any:
			for _, value := range node {
				visit(value)
			}
		}
	}
	visit(root)
	return out
}
