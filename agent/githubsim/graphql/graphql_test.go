package graphql_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"touchstone/agent/githubsim/graphql"
)

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "zoo", Input: `
type Query { zoo: Zoo! lost: Zoo broken: Zoo }
type Zoo { name: String! animal(id: Int = 7): Animal animals(first: Int, last: Int, after: String, before: String): AnimalConnection keeper: String! cages: [Cage]! }
interface Animal { id: Int! }
type Cat implements Animal { id: Int! purrs: Boolean! }
type Dog implements Animal { id: Int! barks: Boolean! }
type Cage { size: Int! }
type AnimalConnection { nodes: [Animal] totalCount: Int! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`})

func cat(id int) *graphql.Object {
	return &graphql.Object{Type: "Cat", Fields: map[string]any{"id": id, "purrs": true}}
}

func zoo() *graphql.Object {
	return &graphql.Object{Type: "Query", Fields: map[string]any{
		"lost": graphql.Resolver(func(graphql.Args) (any, error) { return nil, graphql.NotFound("no zoo") }),
		"broken": &graphql.Object{Type: "Zoo", Fields: map[string]any{
			"keeper": graphql.Resolver(func(graphql.Args) (any, error) { return nil, errors.New("asleep") }),
			"cages":  []*graphql.Object{nil, {Type: "Cage", Fields: map[string]any{"size": 3}}},
		}},
		"zoo": &graphql.Object{Type: "Zoo", Fields: map[string]any{
			"name":    "Zoo",
			"animals": graphql.Connection("AnimalConnection", []*graphql.Object{cat(0), cat(1), cat(2), cat(3)}),
			"animal": graphql.Resolver(func(a graphql.Args) (any, error) {
				id, _ := a.Int("id")
				return cat(id), nil
			}),
		}},
	}}
}

func TestAQueryIsAnsweredWithDataAndErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		query string
		vars  map[string]any
		want  string
	}{
		"alias and default": {`{ z: zoo { n: name animal { id __typename } } }`, nil,
			`{"data":{"z":{"animal":{"__typename":"Cat","id":7},"n":"Zoo"}}}`},
		"variable": {`query($i: Int) { zoo { animal(id: $i) { id } } }`, map[string]any{"i": 2.0},
			`{"data":{"zoo":{"animal":{"id":2}}}}`},
		"fragments": {`{ zoo { animal { ... on Cat { purrs } ... on Dog { barks } ...a } } } fragment a on Animal { id }`, nil,
			`{"data":{"zoo":{"animal":{"id":7,"purrs":true}}}}`},
		"skip and include": {`{ zoo { name @skip(if: true) animal { id @include(if: false) __typename } } }`, nil,
			`{"data":{"zoo":{"animal":{"__typename":"Cat"}}}}`},
		"same field merged": {`{ zoo { animal { id } animal { __typename } } }`, nil, `{"data":{"zoo":{"animal":{"__typename":"Cat","id":7}}}}`},
		"not found": {`{ lost { name } }`, nil,
			`{"data":{"lost":null},"errors":[{"type":"NOT_FOUND","path":["lost"],"message":"no zoo"}]}`},
		"null climbs": {`{ broken { keeper } }`, nil,
			`{"data":{"broken":null},"errors":[{"path":["broken","keeper"],"message":"asleep"}]}`},
		"null in a list": {`{ broken { cages { size } } }`, nil, `{"data":{"broken":{"cages":[null,{"size":3}]}}}`},
		"unsupported": {`{ zoo { name cages { size } } }`, nil,
			`{"data":null,"errors":[{"path":["zoo","cages"],"message":"field Zoo.cages is not simulated"}]}`},
		"first page": {`{ zoo { animals(first: 2) { nodes { id } pageInfo { hasNextPage hasPreviousPage } } } }`, nil,
			`{"data":{"zoo":{"animals":{"nodes":[{"id":0},{"id":1}],"pageInfo":{"hasNextPage":true,"hasPreviousPage":false}}}}}`},
		"before the last": {`query($b: String) { zoo { animals(last: 1, before: $b) { totalCount nodes { id } } } }`,
			map[string]any{"b": "Y3Vyc29yOjM="}, `{"data":{"zoo":{"animals":{"nodes":[{"id":2}],"totalCount":4}}}}`},
		"after the first": {`{ zoo { animals(first: 9, after: "Y3Vyc29yOjE=") { nodes { id } } } }`, nil,
			`{"data":{"zoo":{"animals":{"nodes":[{"id":2},{"id":3}]}}}}`},
		"a cursor of no use": {`{ zoo { animals(first: 1, after: "nonsense") { nodes { id } } } }`, nil,
			`{"data":{"zoo":{"animals":{"nodes":[{"id":0}]}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(graphql.Execute(schema, zoo(), nil, graphql.Request{Query: tt.query, Variables: tt.vars}))
			if err != nil || string(got) != tt.want {
				t.Fatalf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	for query, says := range map[string]string{
		`{ zoo { nonsense } }`: "nonsense",
		`{`:                    "Expected",
		`query($i: Int!) { zoo { animal(id: $i) { id } } }`: "must be defined",
		`query a { zoo { name } } query b { zoo { name } }`: "no operation",
		`{ zoo { animals { totalCount } } }`:                "`first` or `last`",
		`{ zoo { animals(first: 101) { totalCount } } }`:    "101 records",
		`{ zoo { animals(first: -1) { totalCount } } }`:     "-1 records",
		`mutation { zoo }`: "",
	} {
		got := graphql.Execute(schema, zoo(), nil, graphql.Request{Query: query})
		if len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, says) {
			t.Errorf("%s: %+v, want one error that says %q", query, got.Errors, says)
		}
	}
}

// Every query has a response, and JSON can encode it.
func FuzzExecute(f *testing.F) {
	f.Add(`{ z: zoo { n: name animal { id __typename } } }`)
	f.Add(`query($b: String) { zoo { animals(last: 1, before: $b) { nodes { id ... on Cat { purrs } } } } }`)
	f.Add(`{ broken { keeper cages { size } } lost { name } } fragment a on Zoo { name }`)
	f.Fuzz(func(t *testing.T, query string) {
		got := graphql.Execute(schema, zoo(), nil, graphql.Request{Query: query})
		if got.Data == nil && len(got.Errors) == 0 {
			t.Fatal("neither data nor errors")
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
	})
}
