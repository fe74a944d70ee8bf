// Package graphql executes GraphQL requests on objects made of Go values. It owns validation against a schema,
// selection, fragments, aliases, variables and the rules for null; it stores nothing.
//
// It follows https://spec.graphql.org/October2021/#sec-Execution, without subscriptions.
package graphql

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// Args are a field's arguments, with defaults and variables applied.
type Args map[string]any

// Text returns a string or enum argument; "" if it is absent or null.
func (a Args) Text(name string) string {
	text, _ := a[name].(string)
	return text
}

// List returns a list argument; nil if it is absent or null.
func (a Args) List(name string) []any {
	list, _ := a[name].([]any)
	return list
}

// Int returns an integer argument, and whether it was given.
func (a Args) Int(name string) (int, bool) {
	switch n := a[name].(type) {
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), true
	}
	return 0, false
}

// Object is a value of an object type. A field holds nil, a scalar, an *Object,
// a []*Object, a []string, or a Resolver that yields one of these.
type Object struct {
	Type   string
	Fields map[string]any
}

// Resolver computes a field when it is selected.
type Resolver func(Args) (any, error)

// Request is the request that a client posts.
type Request struct {
	Query     string         `json:"query"`
	Operation string         `json:"operationName"`
	Variables map[string]any `json:"variables"`
}

// Response is the response that the client receives.
type Response struct {
	Data   any     `json:"data,omitempty"`
	Errors []Error `json:"errors,omitempty"`
}

// Error is one error of a response. Type is GitHub's addition, such as NOT_FOUND; most errors have none. A resolver
// may return it without a path.
type Error struct {
	Type    string   `json:"type,omitempty"`
	Path    ast.Path `json:"path,omitempty"`
	Message string   `json:"message"`
}

func (e Error) Error() string { return e.Message }

// NotFound is a resolver's error for an object that does not exist, or that the caller may not see.
func NotFound(format string, args ...any) error {
	return Error{Type: "NOT_FOUND", Message: fmt.Sprintf(format, args...)}
}

// Forbidden is a resolver's error for an operation that the caller may not perform.
func Forbidden(message string) error { return Error{Type: "FORBIDDEN", Message: message} }

// Unprocessable is a resolver's error for an operation that is impossible.
func Unprocessable(message string) error { return Error{Type: "UNPROCESSABLE", Message: message} }

// Execute validates a request and resolves it from the root objects. All errors, including those of the request
// itself, are in the Response.
func Execute(schema *ast.Schema, query, mutation *Object, req Request) Response {
	op, vars, errs := Prepare(schema, req)
	if errs != nil {
		refused := Response{}
		for _, err := range errs {
			refused.Errors = append(refused.Errors, Error{Path: err.Path, Message: err.Message})
		}
		return refused
	}
	root := query
	if op.Operation == ast.Mutation {
		root = mutation
	}
	e := &execution{schema: schema, vars: vars}
	data, _ := e.object(root, []ast.SelectionSet{op.SelectionSet}, nil)
	return Response{Data: data, Errors: e.errs}
}

// Prepare parses and validates a request and applies its variables.
func Prepare(schema *ast.Schema, req Request) (*ast.OperationDefinition, map[string]any, gqlerror.List) {
	doc, errs := valid.parse(schema, req.Query)
	if errs != nil {
		return nil, nil, errs
	}
	op := doc.Operations.ForName(req.Operation)
	if op == nil {
		return nil, nil, gqlerror.List{gqlerror.Errorf("no operation named %q", req.Operation)}
	}
	vars, err := validator.VariableValues(schema, op, req.Variables)
	if err != nil {
		return nil, nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	return op, vars, nil
}

// valid caches the queries that were recently found valid. A client sends the same few queries repeatedly, and
// validating one takes longer than answering it.
var valid documents

// documents is a cache of a limited number of queries; see most.
type documents struct {
	mu    sync.Mutex
	known map[document]*ast.QueryDocument
}

type document struct {
	schema *ast.Schema
	query  string
}

const most = 64

// parse returns a query, parsed and validated. The result is shared: callers must not change it.
func (d *documents) parse(schema *ast.Schema, query string) (*ast.QueryDocument, gqlerror.List) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := document{schema, query}
	if doc := d.known[key]; doc != nil {
		return doc, nil
	}
	doc, errs := gqlparser.LoadQueryWithRules(schema, query, rules.NewDefaultRules())
	if errs != nil {
		return nil, errs
	}
	if d.known == nil || len(d.known) == most {
		d.known = map[document]*ast.QueryDocument{}
	}
	d.known[key] = doc
	return doc, nil
}

type execution struct {
	schema *ast.Schema
	vars   map[string]any
	errs   []Error
}

// object resolves selections on obj. valid is false if a non-null field failed, which makes the whole object
// null.
func (e *execution) object(obj *Object, sets []ast.SelectionSet, path ast.Path) (data map[string]any, valid bool) {
	data = map[string]any{}
	for _, field := range Collect(e.schema, obj.Type, e.vars, sets...) {
		if field.Name == "__typename" {
			data[field.Alias] = obj.Type
			continue
		}
		def := e.schema.Types[obj.Type].Fields.ForName(field.Name)
		at := append(slices.Clone(path), ast.PathName(field.Alias))
		value, ok := e.value(def.Type, e.resolve(obj, field.Field, at), field.Sets, at)
		if !ok {
			return nil, false
		}
		data[field.Alias] = value
	}
	return data, true
}

// resolve returns the field's value, or nil after recording an error.
func (e *execution) resolve(obj *Object, field *ast.Field, path ast.Path) any {
	value, known := obj.Fields[field.Name]
	if !known {
		e.fail(path, fmt.Errorf("field %s.%s is not simulated", obj.Type, field.Name))
		return nil
	}
	resolver, lazy := value.(Resolver)
	if !lazy {
		return value
	}
	value, err := resolver(field.ArgumentMap(e.vars))
	if err != nil {
		e.fail(path, err)
		return nil
	}
	return value
}

func (e *execution) fail(path ast.Path, err error) {
	typed, _ := errors.AsType[Error](err)
	e.errs = append(e.errs, Error{Type: typed.Type, Path: path, Message: err.Error()})
}

// value completes a resolved value; ok is false for a null where the type does not allow one.
func (e *execution) value(t *ast.Type, value any, sub []ast.SelectionSet, path ast.Path) (out any, ok bool) {
	switch v := value.(type) {
	case *Object:
		if v != nil {
			if data, valid := e.object(v, sub, path); valid {
				return data, true
			}
		}
	case []*Object:
		list := make([]any, 0, len(v))
		for i, item := range v {
			element, valid := e.value(t.Elem, item, sub, append(slices.Clone(path), ast.PathIndex(i)))
			if !valid {
				return nil, !t.NonNull
			}
			list = append(list, element)
		}
		return list, true
	case nil:
	default:
		return v, true
	}
	if t.NonNull && len(e.errs) == 0 {
		e.fail(path, errors.New("null for a field that cannot be null"))
	}
	return nil, !t.NonNull
}

// Selected is a field that selections select once or several times under one alias, with what each of them
// selects of it.
type Selected struct {
	*ast.Field
	Sets []ast.SelectionSet
}

// Collect returns the fields that selections select on a type, in the order of their first appearance.
func Collect(schema *ast.Schema, typeName string, vars map[string]any, sets ...ast.SelectionSet) []Selected {
	var out []Selected
	var visit func(set ast.SelectionSet)
	visit = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch s := selection.(type) {
			case *ast.Field:
				if skipped(s.Directives, vars) {
					continue
				}
				if i := slices.IndexFunc(out, func(f Selected) bool { return f.Alias == s.Alias }); i >= 0 {
					out[i].Sets = append(out[i].Sets, s.SelectionSet)
				} else {
					out = append(out, Selected{s, []ast.SelectionSet{s.SelectionSet}})
				}
			case *ast.InlineFragment:
				if !skipped(s.Directives, vars) && applies(schema, s.TypeCondition, typeName) {
					visit(s.SelectionSet)
				}
			case *ast.FragmentSpread:
				if !skipped(s.Directives, vars) && applies(schema, s.Definition.TypeCondition, typeName) {
					visit(s.Definition.SelectionSet)
				}
			}
		}
	}
	for _, set := range sets {
		visit(set)
	}
	return out
}

// skipped applies @skip and @include.
func skipped(directives ast.DirectiveList, vars map[string]any) bool {
	if len(directives) == 0 { // true for nearly all fields
		return false
	}
	for name, unwanted := range map[string]bool{"skip": true, "include": false} {
		if d := directives.ForName(name); d != nil && d.ArgumentMap(vars)["if"] == unwanted {
			return true
		}
	}
	return false
}

func applies(schema *ast.Schema, condition, typeName string) bool {
	return condition == "" || condition == typeName ||
		slices.ContainsFunc(schema.PossibleTypes[condition], func(d *ast.Definition) bool { return d.Name == typeName })
}
