package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"touchstone/agent/githubsim/graphql"
	"touchstone/agent/githubsim/spec"
)

// checkGraphQL validates a request against the schema, and the shape of the response against the request.
func checkGraphQL(x exchange) error {
	if x.status != 200 {
		if allowed(x) {
			return nil
		}
		return fmt.Errorf("GitHub answers GraphQL with 200, also for errors")
	}
	schema, err := spec.GraphQL()
	if err != nil {
		return err
	}
	var req graphql.Request
	if err := json.Unmarshal(x.request, &req); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	op, vars, errs := graphql.Prepare(schema, req)
	if errs != nil {
		return fmt.Errorf("the request: %w", errs)
	}
	var answer struct {
		Data   map[string]any
		Errors []struct{ Message string }
	}
	dec := json.NewDecoder(bytes.NewReader(x.response))
	dec.UseNumber()
	if err := dec.Decode(&answer); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	for _, e := range answer.Errors {
		if e.Message == "" {
			return fmt.Errorf("an error without a message")
		}
	}
	if answer.Data == nil {
		if len(answer.Errors) == 0 {
			return fmt.Errorf("neither data nor errors")
		}
		return nil
	}
	root := schema.Query
	if op.Operation == ast.Mutation {
		root = schema.Mutation
	}
	s := shape{schema: schema, vars: vars, failed: len(answer.Errors) > 0}
	return s.object(root.Name, answer.Data, []ast.SelectionSet{op.SelectionSet}, "data")
}

// shape walks a response together with the selections that requested it.
type shape struct {
	schema *ast.Schema
	vars   map[string]any
	failed bool // the response has errors, so non-null fields may be null
}

func (s shape) object(typeName string, data map[string]any, sets []ast.SelectionSet, path string) error {
	// On an interface or union the response's own type decides, if the request selected __typename.
	concrete := typeName
	if name, ok := data["__typename"].(string); ok {
		concrete = name
	}
	def := s.schema.Types[concrete]
	if def == nil {
		return fmt.Errorf("%s: there is no type %s", path, concrete)
	}
	asked := graphql.Collect(s.schema, concrete, s.vars, sets...)
	for _, field := range asked {
		value, present := data[field.Alias]
		at := path + "." + field.Alias
		if !present {
			return fmt.Errorf("%s was asked for and is missing", at)
		}
		if field.Name == "__typename" {
			continue
		}
		fieldDef := def.Fields.ForName(field.Name)
		if fieldDef == nil {
			return fmt.Errorf("%s: %s has no field %s", at, concrete, field.Name)
		}
		if err := s.value(fieldDef.Type, value, field.Sets, at); err != nil {
			return err
		}
	}
	if len(data) > len(asked) && !def.IsAbstractType() {
		return fmt.Errorf("%s holds %d fields, %d were asked for", path, len(data), len(asked))
	}
	return nil
}

func (s shape) value(t *ast.Type, value any, sub []ast.SelectionSet, path string) error {
	if value == nil {
		if t.NonNull && !s.failed {
			return fmt.Errorf("%s is null, but its type is %s", path, t)
		}
		return nil
	}
	if t.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf("%s is %T, not a list", path, value)
		}
		for i, item := range list {
			if err := s.value(t.Elem, item, sub, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	def := s.schema.Types[t.NamedType]
	switch def.Kind {
	case ast.Enum:
		if text, ok := value.(string); !ok || def.EnumValues.ForName(text) == nil {
			return fmt.Errorf("%s is %v, not one of %s", path, value, def.Name)
		}
	case ast.Scalar:
		if !scalar(def.Name, value) {
			return fmt.Errorf("%s is %v (%T), not a %s", path, value, value, def.Name)
		}
	default:
		data, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %T, not a %s", path, value, def.Name)
		}
		return s.object(def.Name, data, sub, path)
	}
	return nil
}

var sha = regexp.MustCompile(`^[0-9a-f]{40}$`)

// scalar reports whether a JSON value is valid for a scalar type.
func scalar(name string, value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	switch name {
	case "Int":
		_, err := number.Int64()
		return isNumber && err == nil
	case "Float":
		return isNumber
	case "Boolean":
		_, ok := value.(bool)
		return ok
	case "DateTime":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	case "GitObjectID":
		return sha.MatchString(text)
	}
	return isText
}
