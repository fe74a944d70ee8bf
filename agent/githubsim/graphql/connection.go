package graphql

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// maxPage is the maximum number of nodes in one page on GitHub.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const maxPage = 100

// Connection pages nodes as a field of the connection type typeName, such as LabelConnection, by first/after or
// last/before. Like GitHub it requires first or last.
func Connection(typeName string, nodes []*Object) Resolver {
	return func(args Args) (any, error) {
		from, to := 0, len(nodes)
		if at, ok := position(args.Text("after")); ok {
			from = min(at+1, to)
		}
		if at, ok := position(args.Text("before")); ok {
			to = max(min(at, to), from)
		}
		first, hasFirst := args.Int("first")
		last, hasLast := args.Int("last")
		switch {
		case !hasFirst && !hasLast:
			return nil, Error{Message: "You must provide a `first` or `last` value to properly paginate the connection."}
		case max(first, last) > maxPage || min(first, last) < 0:
			return nil, Error{Message: fmt.Sprintf("Requesting %d records on the connection exceeds the limits of 0 to %d records.",
				cmp.Or(first, last), maxPage)}
		case hasFirst:
			to = min(to, from+first)
		default:
			from = max(from, to-last)
		}
		info := map[string]any{
			"hasPreviousPage": from > 0, "hasNextPage": to < len(nodes), "startCursor": nil, "endCursor": nil,
		}
		edges := make([]*Object, 0, to-from)
		for i := from; i < to; i++ {
			edges = append(edges, &Object{strings.TrimSuffix(typeName, "Connection") + "Edge",
				map[string]any{"cursor": cursor(i), "node": nodes[i]}})
		}
		if from < to {
			info["startCursor"], info["endCursor"] = cursor(from), cursor(to-1)
		}
		return &Object{typeName, map[string]any{
			"nodes": nodes[from:to], "edges": edges, "totalCount": len(nodes), "pageInfo": &Object{"PageInfo", info},
		}}, nil
	}
}

func cursor(i int) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:" + strconv.Itoa(i)))
}

// position decodes a cursor; ok is false for a malformed one.
func position(cursor string) (int, bool) {
	raw, err := base64.StdEncoding.DecodeString(cursor)
	text, found := strings.CutPrefix(string(raw), "cursor:")
	i, numErr := strconv.Atoi(text)
	return i, err == nil && found && numErr == nil && i >= 0
}
