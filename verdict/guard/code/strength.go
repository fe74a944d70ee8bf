package code

import "strings"

// strengths are the usual assertions by how few results pass them: 4 one, 3 a bound,
// 2 some part or about, 1 nearly all.
var strengths = func() map[string]int {
	out := map[string]int{}
	for n, names := range map[int]string{
		4: "equal equals eq tobe toequal tostrictequal assertequal assertequals asserteq assert_eq assert_equal == === is " +
			"same assertsame deepequal strictequal be exactly isequalto shouldbe must_equal deepstrictequal jsoneq yamleq " +
			"errorIs assertis assertarrayequals tohavebeencalledwith isinstanceof assert_called_once_with",
		3: "< > assertless assertgreater tobelessthan tobegreaterthan less greater len tohavelength haslength",
		2: "<= >= in indelta indeltaslice inepsilon tobecloseto approx almostequal assertalmostequal withindelta " +
			"elementsmatch contains assertcontains assertin include match matches regexp assertregex tomatch tomatchobject " +
			"tocontain tocontainequal subset tobelessthanorequal tobegreaterthanorequal assertlessequal assertgreaterequal " +
			"lessorequal greaterorequal assert_in_delta assert_match assert_includes be_within oneof tobeoneof ",
		1: "assert_called assert_called_once assert_has_calls notnil notempty notzero nonnull assertnotnull assertisnotnone " +
			"tobedefined tobetruthy tobefalsy be_truthy be_present be_nil notnull isnotnull isnotnil truthy tohavebeencalled " +
			"error any != !== !== assertnotnil anything be_a tobeinstanceof assertnotequal notequal assert_not_nil " +
			"asserttrue assertTrue isnotempty isinstance",
	} {
		for _, name := range strings.Fields(names) {
			out[strings.ToLower(name)] = n
		}
	}
	return out
}()

// strengthOf is the strength of an operation; for one that takes a condition that of the
// comparison in it. What is not known asserts a value.
func strengthOf(op, operands string) int {
	op = strings.ToLower(op)
	if truths[op] {
		padded := " " + operands + " "
		for _, comparison := range []string{" == ", " === ", " < ", " > ", " <= ", " >= ", " in ", " != "} {
			if strings.Contains(padded, comparison) {
				return strengths[strings.TrimSpace(comparison)]
			}
		}
		for _, exact := range []string{"equals (", "Equal (", "matches! (", "matches ! ("} {
			if strings.Contains(operands, exact) {
				return 4
			}
		}
		if op != "==" {
			return 1
		}
	}
	if n := strengths[op]; n > 0 {
		return n
	}
	return 3
}

// looseWords are arguments that anything matches.
var looseWords = set("any anyInt anyLong anyString anyObject anyList anything Anything any_args ANY atLeast atMost " +
	"atLeastOnce atMostOnce instance_of objectContaining arrayContaining stringContaining AnyTimes MinTimes MaxTimes")

var truths = set("assert true asserttrue assert_true ok istrue check require expect_true xctasserttrue xctassert " +
	"prop_assert debug_assert")
