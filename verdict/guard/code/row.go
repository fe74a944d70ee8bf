package code

// row is one case of a table.
type row struct {
	norm string
	line int
}

// rowsOf reads the cases of the tables in a unit: lists of two and more elements that
// are lists themselves, and in marks lists of anything.
func (s *side) rowsOf(u *unit) {
	read := func(i int) {
		if end := int(s.tokens[i].mate); end > i && len(u.rows) < maxRows {
			u.rows = append(u.rows, s.table(u, i, end)...)
		}
	}
	for i := u.from; i < u.at; i++ {
		read(i)
		if rowMarks[s.of(i)] && s.of(i+1) == "(" && s.tokens[i+1].mate > 0 {
			u.rows = append(u.rows, row{s.plain(i, int(s.tokens[i+1].mate)), int(s.tokens[i].line)})
		}
	}
	for i := u.at; i < min(u.body, u.to); i++ {
		read(i)
	}
	u.own(read)
}

// maxRows bounds the cases of one test.
const maxRows = 5000

var rowMarks = set("InlineData TestCase DataRow MemberData ClassData case test_case")

// table is the rows of a list; none when one of its elements is no list.
func (s *side) table(u *unit, open, end int) []row {
	if t := s.of(open); t == "(" || t == "{" && s.of(open-1) == ")" {
		return nil
	}
	if !s.several(open, end) {
		return nil
	}
	var out []row
	from := open + 1
	for k := open + 1; k <= end; k++ {
		if k < end && !(s.of(k) == "," && int(s.outer[k]) == open) {
			if s.of(k) == ";" || s.of(k) == "for" && int(s.outer[k]) == open {
				return nil
			}
			if s.tokens[k].mate > int32(k) {
				k = int(s.tokens[k].mate)
			}
			continue
		}
		if k > from {
			last := s.of(k - 1)
			mate := int(s.tokens[k-1].mate)
			listed := (last == "}" || last == "]" || last == ")") && mate >= from && (mate <= from+3 || s.of(from+1) == ":")
			if !listed && !(open < u.at && s.kindOf(from) != sign) {
				return nil
			}
			out = append(out, row{s.plain(from, k), int(s.tokens[from].line)})
		}
		from = k + 1
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// several reports whether there is more than one element in a list.
func (s *side) several(open, end int) bool {
	for k := open + 1; k < end; k++ {
		if s.of(k) == "," {
			return true
		}
		if s.tokens[k].mate > int32(k) {
			k = int(s.tokens[k].mate)
		}
	}
	return false
}
