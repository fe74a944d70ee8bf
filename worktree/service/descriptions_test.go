package service

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
)

// node is an element of XML with what is in it.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []node     `xml:",any"`
}

// hostile is a value with all that XML gives a meaning to.
const hostile = `/a b/<&>"'/c]]>d`

// parse fills a description in and reads it with a parser that takes well-formed XML alone.
func parse(t *testing.T, text string, values map[string]any) node {
	t.Helper()
	var out strings.Builder
	if err := template.Must(template.New("").Funcs(template.FuncMap{"escape": escape}).Parse(text)).Execute(&out, values); err != nil {
		t.Fatal(err)
	}
	var root node
	decoder := xml.NewDecoder(strings.NewReader(out.String()))
	if err := decoder.Decode(&root); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if _, err := decoder.Token(); err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("behind its end: %v", err)
	}
	return root
}

// property is what an element of a property list means, by its DTD: a dict has keys and values in turn.
func property(t *testing.T, n node) any {
	t.Helper()
	switch n.XMLName.Local {
	case "string", "integer":
		return n.Text
	case "true", "false":
		return n.XMLName.Local == "true"
	case "array":
		all := []any{}
		for _, child := range n.Children {
			all = append(all, property(t, child))
		}
		return all
	case "dict":
		all := map[string]any{}
		for pair := range slices.Chunk(n.Children, 2) {
			if len(pair) != 2 || pair[0].XMLName.Local != "key" || all[pair[0].Text] != nil {
				t.Fatalf("a dict has %v", pair)
			}
			all[pair[0].Text] = property(t, pair[1])
		}
		return all
	}
	t.Fatalf("a property list has no %s", n.XMLName.Local)
	return nil
}

// TestPropertyListIsSound reads launchd's description as a property list, with any characters in its values.
func TestPropertyListIsSound(t *testing.T) {
	t.Parallel()
	root := parse(t, agent, map[string]any{
		"Version": "v1.2.3", "Label": "dev.touchstone.author", "Waiting": waiting, "Program": hostile,
		"Words": plistStrings([]string{"run", "--config", hostile}), "Path": hostile, "Log": hostile,
	})
	if root.XMLName.Local != "plist" || len(root.Children) != 1 {
		t.Fatalf("its root is %s with %d children", root.XMLName.Local, len(root.Children))
	}
	want := map[string]any{
		"Label":                "dev.touchstone.author",
		"ProgramArguments":     []any{"/bin/sh", "-c", waiting, hostile, "run", "--config", hostile},
		"EnvironmentVariables": map[string]any{"PATH": hostile},
		"RunAtLoad":            true, "KeepAlive": map[string]any{"SuccessfulExit": false}, "ExitTimeOut": "60",
		"StandardOutPath": hostile, "StandardErrorPath": hostile,
	}
	if got := property(t, root.Children[0]); !reflect.DeepEqual(got, want) {
		t.Errorf("it says\n%v\nwant\n%v", got, want)
	}
}

// shape is an element with the elements in it, as they follow each other.
func shape(n node) string {
	var inner []string
	for _, child := range n.Children {
		inner = append(inner, shape(child))
	}
	if inner == nil {
		return n.XMLName.Local
	}
	return n.XMLName.Local + "(" + strings.Join(inner, " ") + ")"
}

// TestTaskIsSound reads the description of Windows' scheduled task, with any characters in its values. Its
// elements follow the schema, in which a trigger's own elements come after those of all triggers
// (https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema).
func TestTaskIsSound(t *testing.T) {
	t.Parallel()
	run := line(`"`+hostile+`" run`, hostile)
	root := parse(t, task, map[string]any{"Name": "touchstone-author", "Version": "v1.2.3", "User": `ACME\` + hostile, "Line": run})
	const space = "http://schemas.microsoft.com/windows/2004/02/mit/task"
	if root.XMLName.Space != space || !slices.Contains(root.Attrs, xml.Attr{Name: xml.Name{Local: "version"}, Value: "1.2"}) {
		t.Errorf("its root is %v with %v", root.XMLName, root.Attrs)
	}
	const want = "Task(RegistrationInfo(Description) Triggers(LogonTrigger(Enabled UserId)) " +
		"Principals(Principal(UserId LogonType RunLevel)) " +
		"Settings(MultipleInstancesPolicy DisallowStartIfOnBatteries StopIfGoingOnBatteries ExecutionTimeLimit Hidden) " +
		"Actions(Exec(Command Arguments)))"
	if got := shape(root); got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
	exec := root.Children[4].Children[0]
	if exec.Children[0].Text != "cmd.exe" || exec.Children[1].Text != run {
		t.Errorf("it runs %s %s", exec.Children[0].Text, exec.Children[1].Text)
	}
	if user := root.Children[1].Children[0].Children[1].Text; user != `ACME\`+hostile {
		t.Errorf("it is %s's", user)
	}
}
