package impact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// Note is what the repository's own product graph says about something that the change touches: an annotation
// in a comment, or a node or an edge of an index in the repository.
type Note struct {
	// Path and Line are where the note is written; an index's notes have no line.
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	// Of is the file or the node that the note is about.
	Of string `json:"of"`
	// Relation is the kind of the edge to Target. Without a target it says what Text describes of the node,
	// such as business, its role.
	Relation string `json:"relation"`
	Target   string `json:"target,omitempty"`
	Text     string `json:"text,omitempty"`
	// Stale says why the note can no longer be true; empty otherwise.
	Stale string `json:"stale,omitempty"`
}

const (
	// maxNotes bounds the shown notes, maxNoted the files that are searched for notes on what the change
	// touches.
	maxNotes = 40
	maxNoted = 60
	// maxGraph bounds the size of an index, in bytes.
	maxGraph = 8 << 20
)

var (
	// annotation matches a line of a comment such as "@graph-connects orders [writes_to] each sale".
	annotation = lazyregexp.New(`^[\s*/#<!;"'-]*@graph-([\w-]+):?\s+(\S.*)$`)
	relation   = lazyregexp.New(`^\[([\w-]+)\]\s*`)
	// graphFile matches an index of nodes and edges in a repository.
	graphFile = lazyregexp.New(`(?:^|/)(?:product-|knowledge-)?graph\.json$|\.graph\.json$`)
)

// describing are the annotations that describe a node and not an edge.
var describing = set("business role description stack domain type kind owner id name node nodes")

// annotations returns the annotations of a file.
func annotations(file string, lines []string) []Note {
	var all []Note
	for i, line := range lines {
		if len(line) > 4*maxLine || !strings.Contains(line, "@graph-") {
			continue
		}
		m := annotation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n := Note{Path: file, Line: i + 1, Of: file, Relation: m[1],
			Text: verdict.Clip(strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(m[2]), "-->"), "*/")), maxText)}
		if !describing[m[1]] {
			n.Target, n.Text, _ = strings.Cut(n.Text, " ")
			if r := relation.FindStringSubmatch(n.Text); r != nil {
				n.Relation, n.Text = r[1], strings.TrimPrefix(n.Text, r[0])
			}
			if n.Target == "" || n.Target == "none" {
				continue
			}
		}
		all = append(all, n)
	}
	return all
}

// notes returns what the repository's product graph says about what the change touches: annotations in
// changed files, annotations elsewhere, and entries of an index. Stale notes come first.
func (f *finder) notes() ([]Note, error) {
	touched, gone := f.touched()
	wanted := map[int]bool{}
	var queries [][]word
	names := slices.Sorted(maps.Keys(touched))
	for _, name := range names[:min(len(names), maxNames)] {
		queries = append(queries, append(hashesOf(name), hash("graph")))
	}
	for _, holding := range f.index.holding(queries) {
		for _, entry := range holding[:min(len(holding), maxNoted)] {
			if len(wanted) < 2*maxNoted {
				wanted[entry] = true
			}
		}
	}
	for file := range f.change.added {
		if entry, ok := f.index.at(file); ok && f.change.annotated[file] {
			wanted[entry] = true
		}
	}
	var all []Note
	err := read(f, wanted, func(_ bool, file, _ string, lines []string) {
		_, changed := f.change.added[file]
		for _, n := range annotations(file, lines) {
			if changed || touched[n.Target] {
				all = append(all, n)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	indexed, err := f.indexed(touched)
	if err != nil {
		return nil, err
	}
	all = append(all, indexed...)
	for i := range all {
		n := &all[i]
		for _, name := range []string{n.Target, n.Of} {
			switch {
			case gone[name] != "":
				n.Stale = gone[name]
			case strings.Contains(name, "/") && path.Ext(name) != "" && !strings.Contains(name, "://") && !f.index.has(name) && n.Stale == "":
				n.Stale = "there is no " + name
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Note) int {
		if (a.Stale != "") != (b.Stale != "") {
			return strings.Compare(b.Stale, a.Stale) // the empty string is the smallest
		}
		return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	return all[:min(len(all), maxNotes)], nil
}

// touched returns the names by which a graph can refer to what the change touches: its files, by path, and its
// definitions. gone are the names that no longer exist, with the reason.
func (f *finder) touched() (touched map[string]bool, gone map[string]string) {
	touched, gone = map[string]bool{}, map[string]string{}
	for file := range f.change.added {
		touched[file] = true
	}
	for _, n := range f.change.names {
		name := n.Name
		if n.Kind == "file" {
			name = n.Path
		} else if !distinct(name) && n.Kind != "type" {
			continue
		}
		touched[name] = true
		if n.How == Removed {
			gone[name] = "the change removes " + name
		} else if n.How == Renamed {
			gone[name] = name + " is now " + n.To
		}
	}
	return touched, gone
}

// node and edge are entries of an index, with the alternative field names that such files use.
type node struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	File     string `json:"file"`
	Source   string `json:"source_file"`
	Role     string `json:"role"`
	Business string `json:"business"`
	Text     string `json:"description"`
}

type edge struct {
	Source   string `json:"source"`
	From     string `json:"from"`
	Target   string `json:"target"`
	To       string `json:"to"`
	Relation string `json:"relation"`
	Type     string `json:"type"`
}

// indexed returns the nodes and edges of the repository's own indexes that concern the change.
func (f *finder) indexed(touched map[string]bool) ([]Note, error) {
	var blobs, paths []string
	for _, e := range f.index.entries {
		if strings.HasSuffix(e.Path, "raph.json") && graphFile.MatchString(e.Path) && len(blobs) < 3 {
			blobs, paths = append(blobs, e.Blob), append(paths, e.Path)
		}
	}
	var all []Note
	err := f.contents.Blobs(blobs, maxGraph, func(i int, content []byte) {
		var graph struct {
			Nodes []node `json:"nodes"`
			Edges []edge `json:"edges"`
			Links []edge `json:"links"`
		}
		if content == nil {
			f.unseen = append(f.unseen, fmt.Sprintf("%s is larger than %d MiB and was not read.", paths[i], maxGraph>>20))
			return
		}
		if err := json.Unmarshal(content, &graph); err != nil {
			f.unseen = append(f.unseen, paths[i]+" is no graph that can be read: nodes with id and path, edges with source and target.")
			return
		}
		place, missing := map[string]string{}, 0 // where a node is
		for _, n := range graph.Nodes {
			at := cmp.Or(n.Path, n.File, n.Source)
			place[n.ID] = at
			if at != "" && !f.index.has(at) {
				missing++
			}
			if role := cmp.Or(n.Business, n.Role, n.Text); touched[at] || touched[n.ID] {
				all = append(all, Note{Path: paths[i], Of: cmp.Or(at, n.ID), Relation: "role", Text: verdict.Clip(cmp.Or(role, n.ID), maxText)})
			}
		}
		for _, e := range append(graph.Edges, graph.Links...) {
			from, to := cmp.Or(e.Source, e.From), cmp.Or(e.Target, e.To)
			if touched[from] || touched[to] || touched[place[from]] || touched[place[to]] {
				all = append(all, Note{Path: paths[i], Of: cmp.Or(place[from], from), Relation: cmp.Or(e.Relation, e.Type, "edge"),
					Target: cmp.Or(place[to], to)})
			}
		}
		if missing > 0 {
			f.unseen = append(f.unseen, fmt.Sprintf("%s is stale: %d of its %d nodes name a file that is not there.", paths[i], missing,
				len(graph.Nodes)))
		}
	})
	return all, err
}

// text formats a note on its own line.
func (n Note) text(path, spell func(string) string) string {
	line := path(n.Path)
	if n.Line > 0 {
		line += fmt.Sprintf(":%d", n.Line)
	}
	if n.Of != n.Path {
		line += "  " + spell(n.Of)
	}
	line += "  " + spell(n.Relation)
	for _, text := range []string{n.Target, n.Text} {
		if text != "" {
			line += "  " + spell(text)
		}
	}
	if n.Stale != "" {
		line += "  STALE: " + spell(n.Stale)
	}
	return line + "\n"
}
