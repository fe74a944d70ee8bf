package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"touchstone/worktree/strictyaml"
)

// shelf is a file's settings with every kind of part.
type shelf struct {
	Name   string              `yaml:"name"`
	Boards int                 `yaml:"boards"`
	Lamp   lamp                `yaml:"lamp"`
	Books  map[string]book     `yaml:"books"`
	Tags   []string            `yaml:"tags"`
	Colour colour              `yaml:"colour"`
	Wings  map[string][]string `yaml:"wings"`
}

type lamp struct {
	Watts int  `yaml:"watts"`
	On    bool `yaml:"on"`
}

// book reads itself, by the settings that it holds inline.
type book struct{ pages int }

type paper struct {
	Pages int `yaml:"pages"`
}

func (b *book) UnmarshalYAML(node ast.Node) error {
	var all struct {
		Paper paper  `yaml:",inline"`
		Title string `yaml:"title"`
	}
	err := strictyaml.Node(node, &all)
	b.pages = all.Paper.Pages
	return err
}

type colour string

func (c *colour) UnmarshalYAML(node ast.Node) error {
	var text string
	if err := yaml.NodeToValue(node, &text); err != nil || text != "red" && text != "blue" {
		return strictyaml.At(node, "it is red or blue")
	}
	*c = colour(text)
	return nil
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	const text = `naem: Oak
boards: many
lamp: {wats: 60, on: perhaps}
books:
  emma:
    pgaes: 300
    title: [Emma]
  persuasion: {pages: 249}
tags: oak
colour: green
zzz: 1
`
	s := shelf{Name: "before"}
	err := strictyaml.Decode([]byte(text), &s)
	want := []string{
		`line 1:1: unknown field "naem", did you mean "name"?`,
		`line 2:9: boards: it takes a number`,
		`line 3:8: unknown field "wats", did you mean "watts"?`,
		`line 3:22: on: it takes true or false`,
		`line 6:5: unknown field "pgaes", did you mean "pages"?`,
		`line 7:12: title: it takes a text`,
		`line 9:7: tags: it takes a list, such as [a, b]`,
		`line 10:9: colour: it is red or blue`,
		`line 11:1: unknown field "zzz"`,
	}
	if err == nil || err.Error() != strings.Join(want, "; ") {
		t.Errorf("it says\n%s\nwant\n%s", strings.ReplaceAll(fmt.Sprint(err), "; ", "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatIsRightIsRead(t *testing.T) {
	s := shelf{Name: "before", Lamp: lamp{Watts: 40}}
	if err := strictyaml.Decode([]byte("boards: 5\nlamp: {on: true}\nbooks: {emma: {pages: 300}}\ncolour: red\n"), &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "before" || s.Boards != 5 || s.Lamp != (lamp{40, true}) || s.Books["emma"].pages != 300 || s.Colour != "red" {
		t.Errorf("%+v", s)
	}
	s = shelf{Lamp: lamp{Watts: 40}}
	if err := strictyaml.Decode([]byte("boards: 5\nlamp: {watts: 60, on: perhaps}\n"), &s); err == nil || s.Boards != 5 || s.Lamp.Watts != 60 {
		t.Errorf("beside a mistake: %+v, %v", s, err)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if err := strictyaml.Decode([]byte(empty), &s); err != nil || s.Boards != 5 {
			t.Errorf("%q: %+v, %v", empty, s, err)
		}
	}
}

func TestNoFractionIsCutOff(t *testing.T) {
	var s shelf
	err := strictyaml.Decode([]byte("boards: &half 0.5\nlamp: {watts: 60.5}\n"), &s)
	if want := "line 1:15: it takes a whole number; line 2:15: watts: it takes a whole number"; err == nil || err.Error() != want {
		t.Errorf("it says %v, want %s", err, want)
	}
	err = strictyaml.Decode([]byte("boards: 0.5\nzzz: 1\n"), &s)
	if err == nil || !strings.Contains(err.Error(), "boards: it takes a whole number") {
		t.Errorf("beside another mistake: %v", err)
	}
	for _, text := range []string{`boards: "0.5"`, "boards: !!float 0.5", "boards: 0x1p-1", "boards: >-\n  0.5\n",
		"name: &half 0.5\nboards: *half\n", "lamp: {watts: &half 1.5}\nboards: *half\n"} {
		if err := strictyaml.Decode([]byte(text), &s); err == nil || !strings.Contains(err.Error(), "it takes a whole number") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := strictyaml.Decode([]byte("boards: \"12\"\nname: \"0.5\"\n"), &s); err != nil || s.Boards != 12 || s.Name != "0.5" {
		t.Errorf("in quotes: %+v, %v", s, err)
	}
	if err := strictyaml.Decode([]byte("boards: 1e1\nlamp: {watts: 60.0}\n"), &s); err != nil || s.Boards != 10 || s.Lamp.Watts != 60 {
		t.Errorf("whole numbers: %+v, %v", s, err)
	}
}

func TestNoTextIsReadAsAnother(t *testing.T) {
	for text, place := range map[string]string{
		"name: 1.20\n": "line 1:7: name", "name: 0x10\n": "line 1:7: name", "name: True\n": "line 1:7: name",
		"name: -.inf\n": "line 1:7: name", "name: .nan\n": "line 1:7: name",
		"tags: [go, 1.20]\n":                       "line 1:12: it takes a text",
		"tags:\n- 1_000\n":                         "line 2:3: it takes a text",
		"tags: [!!str 1.20]\n":                     "line 1:13: it takes a text",
		"boards: &n 0x10\nname: *n\n":              "line 2:7: name",
		"lamp: {wats: 1}\nname: 1.20\n":            "line 2:7: name",
		"wings: {left: [1.20]}\n":                  "line 1:16: it takes a text",
		"books: {emma: {pages: 3, title: 1.20}}\n": "line 1:33: title",
	} {
		var s shelf
		if err := strictyaml.Decode([]byte(text), &s); err == nil || !strings.Contains(err.Error(), place) ||
			!strings.Contains(err.Error(), "put it in quotes") {
			t.Errorf("%q: %v, want %s", text, err, place)
		}
	}
	var s shelf
	err := strictyaml.Decode([]byte("name: '1.20'\ntags: [5, 1e3, true, -2.5]\nwings: {left: [~, x]}\n"), &s)
	if err != nil || s.Name != "1.20" || strings.Join(s.Tags, " ") != "5 1e3 true -2.5" {
		t.Errorf("what is read as it is written: %+v, %v", s, err)
	}
}

// TestAFileOfBlankLinesIsNotParsed has files that take the lexer half a minute.
func TestAFileOfBlankLinesIsNotParsed(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		var s shelf
		err := strictyaml.Decode([]byte("name: |\n  x"+strings.Repeat(end, 64<<10/len(end))), &s)
		if err == nil || err.Error() != "it has more than 10000 lines" {
			t.Errorf("%q: %v", end, err)
		}
	}
	var s shelf
	err := strictyaml.Decode([]byte("name: |\n  x"+strings.Repeat("\n", 2000)+"boards: 3\n"), &s)
	if err != nil || s.Boards != 3 {
		t.Errorf("some blank lines: %+v, %v", s, err)
	}
}

// TestAFileOfBracketsIsNotParsed has files that take the parser seconds to minutes.
func TestAFileOfBracketsIsNotParsed(t *testing.T) {
	for text, place := range map[string]string{
		strings.Repeat("[", 64<<10):                                      "line 1:51: ",
		strings.Repeat("{a: ", 16<<10):                                   "line 1:201: ",
		strings.Repeat("- ", 32<<10):                                     "line 1:101: ",
		"tags: " + strings.Repeat("[\n", 51) + strings.Repeat("]\n", 51): "line 51:1: ",
	} {
		var s shelf
		if err := strictyaml.Decode([]byte(text), &s); err == nil || err.Error() != place+"it is nested too deeply" {
			t.Errorf("%.20q…: %.200v, want %s", text, err, place)
		}
	}
	var s shelf
	err := strictyaml.Decode([]byte("tags: ["+strings.Repeat("[],", 100)+"]\n"), &s)
	if err == nil || strings.Contains(err.Error(), "nested") {
		t.Errorf("many lists beside each other: %v", err)
	}
}

func TestAnErrorIsNotAsLongAsItsFile(t *testing.T) {
	var s shelf
	err := strictyaml.Decode([]byte(strings.Repeat("k", 60<<10)+": 1\n"), &s)
	if err == nil || len(err.Error()) > 400 || !strings.HasPrefix(err.Error(), `line 1:1: unknown field "kkk`) {
		t.Errorf("a long key: %.500v", err)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "k%d: 1\n", i)
	}
	err = strictyaml.Decode([]byte(many.String()), &s)
	if err == nil || !strings.HasSuffix(err.Error(), `line 20:1: unknown field "k19"; and 980 more`) {
		t.Errorf("many keys: %v", err)
	}
}

// TestOneSettingMayReferToAnother also checks that such a setting cannot be read separately.
func TestOneSettingMayReferToAnother(t *testing.T) {
	var s shelf
	if err := strictyaml.Decode([]byte("name: &n oak\ntags: [*n]\n"), &s); err != nil || s.Tags[0] != "oak" {
		t.Errorf("%+v, %v", s, err)
	}
	err := strictyaml.Decode([]byte("name: &n oak\nboards: *n\n"), &s)
	if err == nil || !strings.HasPrefix(err.Error(), "line 1:10: ") || strings.Contains(err.Error(), "alias") {
		t.Errorf("%v", err)
	}
}

// FuzzDecode checks that any file gives settings or an error.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "a: &a [*a]", "lamp: {on: {}}", "books: {a: , b: 5}", "? {}\n", "<<: {name: a}\nboards: x", "lamp: !!str 5",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s shelf
		if err := strictyaml.Decode([]byte(text), &s); err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
	})
}
