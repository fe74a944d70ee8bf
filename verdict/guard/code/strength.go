package code

import "strings"

// strengths are the usual assertions by how few results pass them: 4 one, 3 a bound,
// 2 some part or about, 1 nearly all. Those of a condition that fails a test of Go follow
// from what it compares with.
var strengths = func() map[string]int {
	out := map[string]int{}
	for n, names := range map[int]string{
		4: "equal equals eq tobe toequal tostrictequal assertequal assertequals asserteq assert_eq assert_equal == === is " +
			"same assertsame deepequal strictequal exactly isequalto shouldbe must_equal deepstrictequal jsoneq yamleq " +
			"erroris assertis assertarrayequals tohavebeencalledwith isinstanceof assert_called_once_with tothrow throws raises " +
			"assertraises assertthrows assert_raises must_raise errorcontains equalerror errorassert",
		3: "if < > assertless assertgreater tobelessthan tobegreaterthan less greater len tohavelength haslength",
		2: "<= >= in indelta indeltaslice inepsilon tobecloseto approx almostequal assertalmostequal withindelta " +
			"elementsmatch contains assertcontains assertin include match matches regexp assertregex tomatch tomatchobject " +
			"tocontain tocontainequal subset tobelessthanorequal tobegreaterthanorequal assertlessequal assertgreaterequal " +
			"lessorequal greaterorequal assert_in_delta assert_match assert_includes be_within oneof tobeoneof",
		1: "assert_called assert_called_once assert_has_calls notnil notempty notzero nonnull assertnotnull assertisnotnone " +
			"tobedefined tobetruthy tobefalsy be_truthy be_present be_nil notnull isnotnull isnotnil truthy tohavebeencalled " +
			"error any != !== assertnotnil anything be_a tobeinstanceof assertnotequal notequal assert_not_nil " +
			"isnotempty isinstance debug_assert expect assertthat " + truthNames,
	} {
		for _, name := range strings.Fields(names) {
			out[name] = n
		}
	}
	return out
}()

// truthNames are assertions that take a condition: what counts is the comparison in it.
const truthNames = "assert true asserttrue assert_true ok istrue check require expect_true xctasserttrue xctassert prop_assert"

var truths = set(truthNames + " debug_assert")

// looseWords are arguments that anything matches.
var looseWords = set("any anyInt anyLong anyString anyObject anyList anything Anything any_args ANY atLeast atMost " +
	"atLeastOnce atMostOnce instance_of objectContaining arrayContaining stringContaining AnyTimes MinTimes MaxTimes " +
	"Exception Throwable BaseException StandardError RuntimeException")
