package reviewer

import (
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/reviewer/change"
)

func TestASmallerTierMayHaveItsModel(t *testing.T) {
	some := &Examiner{Model: "large", Models: config.Models{Lite: "small"}}
	all := &Examiner{Model: "large", Models: config.Models{Trivial: "tiny", Lite: "small"}}
	for _, test := range []struct {
		e    *Examiner
		tier change.Tier
		want string
	}{
		{some, change.Trivial, "large"}, {some, change.Lite, "small"}, {some, change.Full, "large"},
		{all, change.Trivial, "tiny"}, {all, change.Full, "large"}, {&Examiner{}, change.Lite, ""},
	} {
		if got := test.e.model(test.tier); got != test.want {
			t.Errorf("%s of %+v is %q", test.tier, test.e.Models, got)
		}
	}
}
