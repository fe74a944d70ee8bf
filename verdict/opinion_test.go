package verdict

import "testing"

// session is what a reviewer says after a session of a round.
func session(round int, v Verdict) Opinion {
	o := says("alice", head, v)
	o.Record.Round, o.Record.Engine = round, "claude"
	return o
}

// TestTheWeightierOfTwoAtOnceCounts: two machines of one login can have judged the same
// head in the same round, neither knowing of the other.
func TestTheWeightierOfTwoAtOnceCounts(t *testing.T) {
	lifted := session(1, Approve)
	lifted.Record.Engine = ""
	for name, test := range map[string]struct {
		opinions []Opinion
		want     Kind
	}{
		"an approval last":                  {[]Opinion{session(1, RequestChanges), session(1, Approve)}, Fix},
		"an approval first":                 {[]Opinion{session(1, Approve), session(1, RequestChanges)}, Fix},
		"twice approved":                    {[]Opinion{session(1, Approve), session(1, Approve)}, Merge},
		"approved in a later round":         {[]Opinion{session(1, RequestChanges), session(2, Approve)}, Merge},
		"approved later without a session":  {[]Opinion{session(1, RequestChanges), lifted}, Merge},
		"the weightier one was withdrawn":   {[]Opinion{withdrawn(session(1, RequestChanges)), session(1, Approve)}, Merge},
		"the approval was withdrawn by one": {[]Opinion{session(1, RequestChanges), withdrawn(session(1, Approve))}, Fix},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready()
			s.Opinions = test.opinions
			if got := Next(s); got.Kind != test.want {
				t.Errorf("got %s because %q; want %s", got.Kind, got.Reason, test.want)
			}
		})
	}
}

func withdrawn(o Opinion) Opinion {
	o.State = dismissed
	return o
}
