package impact

import (
	"fmt"
	"strings"
	"testing"
)

func same(text string) string { return text }

// long is the body of a function of Python, so many lines long.
func long(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "    step_%d()\n", i)
	}
	return b.String()
}

// TestDefinitionsAreShownWholeWithWhatTheyCall also checks that those of typed languages, which have no keyword,
// are found.
func TestDefinitionsAreShownWholeWithWhatTheyCall(t *testing.T) {
	t.Parallel()
	s := sheetOf(t, changing(t, map[string]string{
		"a.py": "def use():\n    pass\n", "b.py": "def check_all():\n" + long(40) + "    inner_check()\n",
		"c.py":    "def inner_check():\n    return 1\n",
		"Box.cpp": "void Box::SetSize(int n) {\n  size_ = n;\n}\n", "run.cpp": "void Run() {\n  Start();\n}\n",
	}, map[string]string{"a.py": "def use():\n    check_all()\n", "run.cpp": "void Run() {\n  box->SetSize(3);\n  Start();\n}\n"}), "")
	text := s.Text(same, same)
	for _, want := range []string{"    42      inner_check()\n", "func inner_check (c.py)\n     1  def inner_check():\n     2      return 1\n",
		"method Box.SetSize (Box.cpp)\n     1  void Box::SetSize(int n) {\n     2    size_ = n;\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}

// TestTheCodeAroundUsesIsShown checks that the function around a use is shown, of a long one its head and what
// is near the use.
func TestTheCodeAroundUsesIsShown(t *testing.T) {
	t.Parallel()
	text := sheetOf(t, changing(t, map[string]string{
		"a.py": "def check_all():\n    return 1\n", "b.py": "def caller(n):\n    if n:\n        check_all()\n    return n\n",
		"c.py":        "def endless(n):\n" + long(50) + "    check_all()\n" + long(50),
		"test_all.py": "def test_one():\n    assert check_all() == 1\n    stop()\n",
	}, map[string]string{"a.py": "def check_all():\n    return 2\n"}), "").Text(same, same)
	for _, want := range []string{
		"func caller (b.py)\n     1  def caller(n):\n     2      if n:\n     3          check_all()\n     4      return n\n",
		"func test_one (test_all.py)\n     1  def test_one():\n", "func endless (c.py)\n     1  def endless(n):\n     …\n    43      step_41()\n",
		"    52      check_all()\n", "    61      step_8()\n     …\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}

// TestMethodsWithTheSameStateAreShown checks that they are shown if they use what a changed method uses.
func TestMethodsWithTheSameStateAreShown(t *testing.T) {
	t.Parallel()
	const rest = "    public void Clear() {\n        m_all.Clear();\n        m_index.Clear();\n    }\n\n    public void Other() {\n        " +
		"Stop();\n    }\n\n    private readonly List<int> m_all;\n    private readonly List<int> m_index;\n}\n"
	text := sheetOf(t, changing(t, map[string]string{"A.cs": "class A {\n    public void Set(int n) {\n        m_all.Add(n);\n        " +
		"m_index.Add(n);\n    }\n\n" + rest}, map[string]string{"A.cs": "class A {\n    public void Set(int n) {\n        if (n < 0) return;\n" +
		"        m_all.Add(n);\n        m_index.Add(n);\n    }\n\n" + rest}), "").Text(same, same)
	if !strings.Contains(text, "method A.Clear (A.cs)\n     8      public void Clear() {\n") || strings.Contains(text, "A.Other") ||
		strings.Contains(text, "method A.Set (A.cs)\n") {
		t.Error(text)
	}
}

// TestTheSheetSaysWhereItIsComplete checks each kind of claim that no other line has a name.
func TestTheSheetSaysWhereItIsComplete(t *testing.T) {
	t.Parallel()
	before := map[string]string{
		"a.py": "def check_all():\n    old_helper()\n\ndef lonely_one():\n    return 1\n\ndef everywhere_used():\n    return 1\n",
		"b.py": "def f():\n    check_all()\n\ncheck_all = 3\n", "c.js": "check_all()\n", "d.py": "old_helper(1)\n",
	}
	for i := range 30 {
		before[fmt.Sprintf("m%d/u.py", i)] = "from a import everywhere_used\neverywhere_used()\n"
	}
	text := sheetOf(t, changing(t, before, map[string]string{
		"a.py": "def check_all():\n    pass\n\ndef lonely_one():\n    return 2\n\ndef everywhere_used():\n    return 2\n\ndef " +
			"new_helper():\n    " +
			"pass\n",
	}), "").Text(same, same)
	for _, want := range []string{
		"## No other line of the repository has these names\n\nfunc lonely_one, func new_helper\n",
		"func check_all (a.py:1)\n  b.py:2  calls", "  and in 1 file of another language or package\n",
		"func everywhere_used (a.py:7)\n", "name old_helper (a.py:2 before the change) complete\n  d.py:1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	for _, name := range []string{"everywhere_used (a.py:7)", "check_all (a.py:1)"} {
		if strings.Contains(text, name+" complete") {
			t.Errorf("%s is called complete, and not all of its lines are listed", name)
		}
	}
}

// TestGroupsShareTheSheet checks that a group without need leaves its room to the others, and that what is left
// out is named.
func TestGroupsShareTheSheet(t *testing.T) {
	t.Parallel()
	block := func(name string) Code {
		return Code{Path: "a.py", Title: "func " + name, Lines: []Line{{1, strings.Repeat("x", 1000)}}}
	}
	var s Sheet
	for i := range 40 {
		s.Called = append(s.Called, block(fmt.Sprintf("called_%d", i)))
		s.Around = append(s.Around, block(fmt.Sprintf("around_%d", i)))
	}
	text := s.Text(same, same)
	called, around := strings.Count(text, "func called_"), strings.Count(text, "func around_")
	if len(text) > maxSheet || called < 10 || around < 10 || !strings.Contains(text, "more are left out for their length: func ") {
		t.Errorf("%d bytes, %d and %d entries", len(text), called, around)
	}
	s.Around = s.Around[:1]
	if text := s.Text(same, same); len(text) > maxSheet || strings.Count(text, "func called_") < 19 ||
		!strings.Contains(text, "func around_0") {
		t.Errorf("%d bytes, %d entries", len(text), strings.Count(text, "func called_"))
	}
}

// TestRoomThatIsLeftIsGivenAwayOnce has definitions that are too long for the room of their group, and two groups that could
// use it.
func TestRoomThatIsLeftIsGivenAwayOnce(t *testing.T) {
	t.Parallel()
	block := func(name string, lines int) Code {
		c := Code{Path: "a.go", Title: "func " + name}
		for i := range lines {
			c.Lines = append(c.Lines, Line{i + 1, strings.Repeat("x", 130)})
		}
		return c
	}
	var s Sheet
	for i := range 200 {
		s.Names = append(s.Names, Name{Kind: "func", Name: fmt.Sprintf("changed_%d", i), Path: "a.go", How: Body,
			Places: []Place{{Path: "b.go", Line: 3, What: "calls", Text: strings.Repeat("x", 100)}}})
		s.Around = append(s.Around, block(fmt.Sprintf("around_%d", i), 1))
	}
	for i := range 6 {
		s.Called = append(s.Called, block(fmt.Sprintf("called_%d", i), 60))
	}
	if text := s.Text(same, same); len(text) > maxSheet || len(text) < maxSheet*9/10 {
		t.Errorf("%d bytes of %d", len(text), maxSheet)
	}
}
