package decide

import (
	"testing"
	"time"

	"touchstone/verdict"
)

// review changes the review of the pull request that is ready.
func review(change func(*Opinion)) func(*State) {
	return func(s *State) { change(&s.Opinions[0]) }
}

// also adds opinions after those that are there, before puts them in front.
func also(opinions ...Opinion) func(*State) {
	return func(s *State) { s.Opinions = append(s.Opinions, opinions...) }
}

func before(opinions ...Opinion) func(*State) {
	return func(s *State) { s.Opinions = append(opinions, s.Opinions...) }
}

// byHand is a person's review of the head.
func byHand(by, state string) Opinion {
	return Opinion{By: by, SHA: head, State: state, CanPush: true, At: noon}
}

func TestAuthorMergesItsOwnApprovedPullRequest(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"ready", func(s *State) {}, Merge, "approved and green"},
		{"reviewer in other case", review(func(o *Opinion) { o.By = "ALICE" }), Merge, ""},
		{"no checks, none required", func(s *State) { s.Checks = ChecksNone; s.RequireChecks = false }, Merge, ""},
		{"closed", func(s *State) { s.Open = false }, Done, "closed"},
		{"another's", func(s *State) { s.Author = "mona" }, Skip, "not octocat's own"},
		{"draft", func(s *State) { s.Draft = true }, Wait, "draft"},
		{"needs a person", func(s *State) { s.NeedsHuman = true }, Wait, "person"},
		{"held", func(s *State) { s.HoldLabel = "stay" }, Wait, "label"},
	})
}

func TestForksAndSharedBranchesAreMergedOrLeftToTheirAuthor(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"of a fork", func(s *State) { s.Fork = true }, Merge, ""},
		{"of a fork, which people merge", func(s *State) { s.Fork, s.Manual = true, Left{Why: "merge.forks is off", Topic: "fork"} }, Tell,
			"merge.forks is off"},
		{"of a fork, and objected to", func(s *State) { s.Fork, s.Opinions = true, []Opinion{says("alice", head, verdict.RequestChanges)} },
			Tell, "the review requests changes, and that is left to its author: no agent pushes to the branch of a fork"},
		{"of a fork, objected to again", func(s *State) {
			s.Fork, s.Opinions, s.Notices = true, []Opinion{says("alice", head, verdict.RequestChanges)}, []Notice{{Topic: "review", SHA: older}}
		}, Wait, "that is left to its author"},
		{"of a fork, and behind", func(s *State) { s.Fork, s.Mergeable = true, MergeableBehind }, Tell, "behind its base"},
		{"of a fork, a check failed", func(s *State) { s.Fork, s.Checks = true, ChecksFailed }, Tell, "a check failed"},
		{"others build on it", func(s *State) { s.Shared = true }, Tell,
			"approved and green, and waits for its author to merge it: other branches are built on its branch"},
		{"others build on it, and objected to", func(s *State) { s.Shared, s.Opinions = true, []Opinion{vague()} }, Tell,
			"left to its author: other branches are built on its branch"},
		{"of a fork, with a conflict", func(s *State) { s.Fork, s.Mergeable = true, MergeableDirty }, Tell,
			"conflicts with its base, and that is left to its author"},
	})
}

func TestOnlyTheReviewersWordOnThisHeadCounts(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"no review", func(s *State) { s.Opinions = nil }, Wait, "not reviewed yet"},
		{"no review, and nobody asked for one", func(s *State) { s.Opinions, s.Requested = nil, false }, Wait,
			"nobody has asked alice or bob for a review: request it"},
		{"no review, and a person ordered one", func(s *State) {
			s.Opinions, s.Requested, s.Orders = nil, false, []verdict.Command{ordered(verdict.AskReview, "mona", 1)}
		}, Wait, "not reviewed yet"},
		{"older head approved", review(func(o *Opinion) { o.SHA, o.Record.Head = older, older }), Wait, "not reviewed yet"},
		{"approved by hand", review(func(o *Opinion) { o.Record = nil }), Wait, "not reviewed yet"},
		{"approved by a stranger", review(func(o *Opinion) { o.By = "mallory" }), Wait, "not reviewed yet"},
		{"approved by the author", func(s *State) { s.Opinions[0].By = "octocat"; s.Reviewers = []string{"octocat"} }, Wait, "not reviewed yet"},
		{"nobody is trusted", func(s *State) { s.Reviewers = nil }, Wait, "not reviewed yet"},
		{"dismissed", review(func(o *Opinion) { o.State = "DISMISSED" }), Wait, "was dismissed"},
		{"record of an older head on this one", review(func(o *Opinion) { o.Record.Head = older }), Escalate, "contradicts itself"},
		{"record of this head on an older one", review(func(o *Opinion) { o.SHA = older }), Wait, "not reviewed yet"},
		{"edited", review(func(o *Opinion) { o.Edited = true }), Escalate, "edited"},
		{"its base was rewritten", review(func(o *Opinion) { o.Rebased = true }), Wait, "not reviewed yet"},
		{"merging it changes something else by now", review(func(o *Opinion) { o.Outdated = true }), Wait, "not reviewed yet"},
		{"a conflict before the first review", func(s *State) { s.Opinions, s.Mergeable = nil, MergeableDirty }, Fix, "conflicts"},
		{"approved against another base", func(s *State) { s.BaseBranch = "release" }, Wait, "not reviewed yet"},
		{"approved, then reviewed against another base", func(s *State) {
			s.Opinions = append(s.Opinions, says("alice", head, verdict.RequestChanges))
			s.Opinions[len(s.Opinions)-1].Record.BaseBranch = "release"
		}, Wait, "not reviewed yet"},
		{"then approved by a slower machine, which has not seen that", func(s *State) {
			s.Opinions = []Opinion{inRound(1, "main", verdict.RequestChanges), inRound(2, "release", verdict.RequestChanges),
				inRound(1, "main", verdict.Approve)}
		}, Wait, "not reviewed yet"},
		{"then approved once more", func(s *State) {
			s.Opinions = []Opinion{inRound(1, "main", verdict.Approve), inRound(2, "release", verdict.RequestChanges),
				inRound(3, "main", verdict.Approve)}
		}, Merge, ""},
		{"approved by another, and by one who had asked for changes on another base without knowing", func(s *State) {
			s.Reviewers = append(s.Reviewers, "bob")
			s.Opinions = []Opinion{says("bob", head, verdict.Approve), says("alice", head, verdict.RequestChanges),
				says("alice", head, verdict.Approve)}
			s.Opinions[1].State, s.Opinions[1].Record.BaseBranch = "CHANGES_REQUESTED", "release"
		}, Wait, "alice still requests changes"},
		{"approved, and by a person who had asked for changes, and quotes a review of another base", func(s *State) {
			quoted := []Opinion{inRound(2, "release", verdict.RequestChanges), inRound(1, "main", verdict.Approve)}
			for i := range quoted {
				quoted[i].By, quoted[i].Person, quoted[i].CanPush = "mona", true, true
			}
			quoted[0].State = "CHANGES_REQUESTED"
			s.Opinions = append(s.Opinions, quoted...)
		}, Merge, ""},
		{"edited, then reviewed again", func(s *State) {
			s.Opinions[0].Edited = true
			s.Opinions = append(s.Opinions, says("alice", head, verdict.Approve))
		}, Merge, ""},
		{"edited and dismissed", review(func(o *Opinion) { o.Edited, o.State = true, "DISMISSED" }), Wait, "was dismissed"},
		{"commented with an approving record", review(func(o *Opinion) { o.State = "COMMENTED" }), Escalate, "contradicts itself"},
		{"approved with a blocking record", review(func(o *Opinion) { o.Record.Verdict = verdict.RequestChanges }), Escalate,
			"contradicts itself"},
		{"blocked with an approving record", review(func(o *Opinion) { o.State = "CHANGES_REQUESTED" }), Escalate, "contradicts itself"},
		{"state in lower case", review(func(o *Opinion) { o.State = "approved" }), Escalate, "contradicts itself"},
	})
}

func TestFailedActsAreRepeatedWithinBounds(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"a merge was refused", func(s *State) { s.Attempts, s.Failed, s.RetryIn = 1, Merge, time.Minute }, Wait, "next one is delayed"},
		{"merges were refused too often", func(s *State) { s.Attempts, s.Failed, s.RetryIn = 2, Merge, time.Minute }, Escalate, "2 attempts"},
		{"calling a person was refused", func(s *State) { s.Attempts, s.Failed, s.RetryIn = 3, Escalate, time.Minute }, Wait, "next one is " +
			"delayed"},
		{"another act failed", func(s *State) { s.Attempts, s.Failed, s.RetryIn = 1, Fix, time.Minute }, Merge, ""},
		{"attempts used up", func(s *State) { s.Opinions = []Opinion{says("alice", head, verdict.RequestChanges)}; s.Attempts = 2 }, Escalate,
			"2 attempts"},
		{"attempt has to wait", func(s *State) {
			s.Opinions = []Opinion{says("alice", head, verdict.RequestChanges)}
			s.Failed, s.RetryIn = Fix, 1
		}, Wait, "next one is delayed"},
		{"telling failed", func(s *State) { s.Manual, s.Failed, s.RetryIn = byHandOnly, Tell, time.Minute }, Wait, "next one is delayed"},
	})
}

func TestRequestedChangesAreFixedWithinTheirRounds(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"changes requested", func(s *State) { s.Opinions = []Opinion{says("alice", head, verdict.RequestChanges)} }, Fix, "requests changes"},
		{"changes requested, and an unclear order", func(s *State) {
			s.Opinions, s.Unclear = []Opinion{says("alice", head, verdict.RequestChanges)}, []verdict.Unclear{{ID: 1, By: "mona"}}
		}, Wait, "mona gave an order that cannot be followed, and is about"},
		{"and another review is ordered", func(s *State) {
			s.Opinions, s.Orders = []Opinion{vague()}, []verdict.Command{{Verb: verdict.AskReview, ID: 7, By: "mona", At: noon.Add(time.Minute)}}
		}, Wait, "mona asks for a review"},
		{"edited, and another is ordered", func(s *State) {
			s.Opinions[0].Edited, s.Orders = true, []verdict.Command{{Verb: verdict.AskReview, ID: 7, By: "mona", At: noon.Add(time.Minute)}}
		}, Wait, "mona asks for a review"},
		{"the order was followed", func(s *State) {
			s.Opinions, s.Orders = []Opinion{vague()}, []verdict.Command{{Verb: verdict.AskReview, ID: 7, By: "mona", At: noon.Add(-time.Minute)}}
			s.Opinions[0].Record.LastComment = 7
		}, Escalate, "names nothing"},
		{"changes requested without a finding", func(s *State) { s.Opinions = []Opinion{vague()} }, Escalate,
			"names nothing that a fix could address"},
		{"changes requested without a finding, and a check failed", func(s *State) { s.Opinions, s.Checks = []Opinion{vague()}, ChecksFailed },
			Fix, "requests changes"},
		{"changes requested without a finding, and a conflict", func(s *State) { s.Opinions, s.Mergeable = []Opinion{vague()}, MergeableDirty },
			Fix, "requests changes"},
		{"one of two names a finding", func(s *State) { s.Opinions = []Opinion{vague(), says("bob", head, verdict.RequestChanges)} }, Fix,
			"requests changes"},
		{"held, and a person had the agents go on", func(s *State) {
			o := vague()
			o.Record.Holds = []verdict.Hold{{Kind: verdict.HiddenText}}
			s.Opinions, s.CalledAt = []Opinion{o}, noon.Add(time.Hour)
		}, Fix, "requests changes"},
		{"strictest after", also(says("bob", head, verdict.RequestChanges)), Fix, "requests changes"},
		{"strictest before", before(says("bob", head, verdict.RequestChanges)), Fix, "requests changes"},
		{"the other one is edited", also(func() Opinion { o := says("bob", head, verdict.Approve); o.Edited = true; return o }()), Escalate,
			"edited"},
		{"rounds used up", func(s *State) { s.Opinions = append(rounds(2), says("alice", head, verdict.RequestChanges)) }, Escalate, "3 rounds"},
		{"rounds of two reviewers", func(s *State) {
			s.Opinions = append(rounds(1), says("bob", "older9", verdict.RequestChanges), says("bob", head, verdict.RequestChanges))
		}, Escalate, "3 rounds"},
		{"two reviewers of one head are one round", func(s *State) {
			s.Opinions = append(rounds(1), says("alice", head, verdict.RequestChanges), says("bob", head, verdict.RequestChanges))
		}, Fix, ""},
		{"a stranger's rounds", func(s *State) {
			s.Opinions = append(rounds(1), says("mallory", "older9", verdict.RequestChanges), says("bob", head, verdict.RequestChanges))
		}, Fix, ""},
		{"approved in the last round", before(rounds(2)...), Merge, ""},
	})
}

func TestObjectionsStandUntilTheyAreTakenBack(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"a person objects", also(byHand("mona", "CHANGES_REQUESTED")), Wait, "still requests changes"},
		{"a person objected to an older head", before(Opinion{By: "mona", SHA: older, State: "CHANGES_REQUESTED", CanPush: true}), Wait,
			"still requests changes"},
		{"and then only comments", also(byHand("mona", "CHANGES_REQUESTED"), byHand("Mona", "COMMENTED")), Wait, "still requests changes"},
		{"and then approves", also(byHand("mona", "CHANGES_REQUESTED"), byHand("Mona", "APPROVED")), Merge, ""},
		{"and then is dismissed", also(byHand("mona", "DISMISSED")), Merge, ""},
		{"another person approves", also(byHand("mona", "CHANGES_REQUESTED"), byHand("hubot", "APPROVED")), Wait, "still requests changes"},
		{"the reviewer's owner objects by hand", before(byHand("alice", "CHANGES_REQUESTED")), Wait, "still requests changes"},
		{"a colleague's record objects", also(says("mallory", head, verdict.RequestChanges), byHand("mallory", "CHANGES_REQUESTED")), Wait,
			"still requests changes"},
		{"a stranger objects", also(Opinion{By: "mallory", SHA: head, State: "CHANGES_REQUESTED", Person: true}), Merge, ""},
		{"a stranger's record objects", also(says("mallory", head, verdict.RequestChanges)), Merge, ""},
		{"the same reviewer blocked an older head", before(says("alice", older, verdict.RequestChanges)), Merge, ""},
		{"another reviewer blocked an older head", before(says("bob", older, verdict.RequestChanges)), Wait,
			"still requests changes of an earlier head"},
		{"another reviewer blocked an older head hours ago", func(s *State) {
			before(says("bob", older, verdict.RequestChanges))(s)
			s.Now = noon.Add(4 * time.Hour)
		}, Tell, "bob still requests changes of an earlier head or base"},
		{"and its author was told", func(s *State) {
			before(says("bob", older, verdict.RequestChanges))(s)
			s.Now, s.Notices = noon.Add(4*time.Hour), []Notice{{Topic: Overtaken}}
		}, Wait, "still requests changes"},
		{"a person objects for hours", func(s *State) { also(byHand("mona", "CHANGES_REQUESTED"))(s); s.Now = noon.Add(4 * time.Hour) }, Wait,
			"still requests changes"},
		{"an approved head came back", func(s *State) { s.Opinions = append(s.Opinions, says("alice", older, verdict.RequestChanges)) }, Merge,
			""},
		{"it came back, and another agent objected",
			func(s *State) { s.Opinions = append(s.Opinions, says("bob", older, verdict.RequestChanges)) }, Wait, "bob still requests changes"},
		{"it came back, and a person under that login objected", func(s *State) {
			o := says("alice", older, verdict.RequestChanges)
			o.Record = nil
			s.Opinions = append(s.Opinions, o)
		}, Wait, "alice still requests changes"},
	})
}

func TestConflictsAndFailedChecksAreFixed(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"another pull request of the branch", func(s *State) { s.SameBranch = "acme/app#7" }, Merge, ""},
		{"another pull request of it, and a conflict", func(s *State) { s.SameBranch, s.Mergeable = "acme/app#7", MergeableDirty }, Escalate,
			"acme/app#7 has the same branch"},
		{"conflict", func(s *State) { s.Mergeable = MergeableDirty }, Fix, "conflicts"},
		{"conflict without auto-merge", func(s *State) { s.Mergeable = MergeableDirty; s.Manual = byHandOnly }, Fix, "conflicts"},
		{"check failed", func(s *State) { s.Checks = ChecksFailed }, Fix, "check failed"},
		{"check failed, attempts used up", func(s *State) { s.Checks = ChecksFailed; s.Attempts = 2 }, Escalate,
			"a check failed, and 2 attempts"},
		{"behind", func(s *State) { s.Mergeable = MergeableBehind }, Fix, "behind its base"},
	})
}

func TestMergeByHandIsAskedForOnce(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"merged by hand", func(s *State) { s.Manual = byHandOnly }, Tell, "its author to merge it: merge.auto is off"},
		{"merged by hand, and told", func(s *State) { s.Manual, s.Notices = byHandOnly, []Notice{{Topic: "auto", SHA: older}} }, Wait,
			"its author to merge it: merge.auto is off"},
		{"merged by hand, checks running", func(s *State) { s.Manual, s.Checks = byHandOnly, ChecksPending }, Wait, "running"},
		{"merged by hand, checks running for a day",
			func(s *State) { s.Manual, s.Checks, s.Now = byHandOnly, ChecksPending, noon.Add(checkPatience) }, Escalate, "running for a day"},
		{"merged by hand, behind", func(s *State) { s.Manual, s.Mergeable = byHandOnly, MergeableBehind }, Tell,
			"approved and green, but its base does not accept it as it is, and waits for its author"},
		{"merged by hand, a review is missing", func(s *State) { s.Manual, s.Mergeable = byHandOnly, MergeableBlocked }, Wait, "its author"},
		{"and stays so", func(s *State) { s.Manual, s.Mergeable, s.Now = byHandOnly, MergeableBlocked, noon.Add(rulePatience) }, Tell,
			"does not accept it"},
		{"merged by hand for another reason than was told", func(s *State) {
			s.Manual, s.Notices = Left{Why: "the label says so", Topic: "label"}, []Notice{{Topic: "auto", SHA: head}}
		}, Tell, "the label says so"},
		{"merged by hand, as was told of an older head", func(s *State) {
			s.Manual, s.Notices = Left{Why: "mona took it out", Topic: "queue", OneHead: true}, []Notice{{Topic: "queue", SHA: older}}
		}, Tell, "mona took it out"},
	})
}

func TestMergeQueueIsWaitedFor(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"in the merge queue", func(s *State) { s.InQueue = true }, Wait, "queue"},
		{"in the merge queue, merged by hand", func(s *State) { s.InQueue, s.Manual = true, byHandOnly }, Wait, "queue"},
		{"put into the queue again", func(s *State) { s.Queued = 1 }, Merge, ""},
		{"given back by the queue too often", func(s *State) { s.Queued = 2 }, Escalate, "rejected it 2 times"},
	})
}

func TestRulesThatBlockTheMergeAreWaitedForAndThenTold(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"a required check has not reported", func(s *State) { s.Mergeable, s.Now = MergeableBlocked, noon.Add(rulePatience-1) }, Wait,
			"is missing"},
		{"required checks have not reported", func(s *State) { s.Mergeable, s.Absent = MergeableBlocked, []string{"test", "lint"} }, Wait,
			`it is approved, but the checks "test", "lint" have not begun, which the rules of main require`},
		{"nor does it ever", func(s *State) { s.Mergeable, s.Now = MergeableBlocked, noon.Add(rulePatience) }, Escalate,
			"rules block the merge: a required check or review is missing"},
		{"nor does it ever, and people talk", func(s *State) {
			s.Mergeable, s.Now, s.Conversations = MergeableBlocked, noon.Add(rulePatience), 2
		}, Escalate, "or the rules require resolved conversations, of which 2 are open"},
		{"its last check ended just now", func(s *State) {
			s.Mergeable, s.Now, s.ReportedAt = MergeableBlocked, noon.Add(rulePatience), noon.Add(rulePatience)
		}, Wait, "is missing"},
	})
}

func TestChecksAreWaitedForAndThenTold(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"checks running", func(s *State) { s.Checks = ChecksPending }, Wait, "running"},
		{"made ready after a day", func(s *State) {
			s.Checks, s.Now, s.RenewedAt = ChecksPending, noon.Add(checkPatience), noon.Add(checkPatience-time.Minute)
		}, Wait, "checks are running"},
		{"checks stuck for a day", func(s *State) {
			s.Checks, s.Stuck, s.Now = ChecksPending, "a workflow could not start: see u", noon.Add(checkPatience)
		}, Escalate, "it is approved, and has waited for a day: a workflow could not start: see u"},
		{"checks running for a day", func(s *State) { s.Checks, s.Now = ChecksPending, noon.Add(checkPatience) }, Escalate, "running for a day"},
		{"not so long since an order", func(s *State) {
			s.Checks, s.Now, s.Orders = ChecksPending, noon.Add(checkPatience),
				[]verdict.Command{{ID: 1, Verb: verdict.Resume, By: "mona", At: noon.Add(time.Second)}}
		}, Wait, "running"},
		{"checks not begun", func(s *State) { s.Checks = ChecksNone }, Wait, "no check that counts has passed"},
		{"nor ever", func(s *State) { s.Checks, s.Now = ChecksNone, noon.Add(signPatience) }, Tell, "merge it: no check has passed on it"},
		{"none but one from elsewhere", func(s *State) { s.Checks, s.Unknown, s.Now = ChecksNone, "cla", noon.Add(signPatience) }, Tell,
			`merge it: the check "cla" passed on it, but nothing on main came from`},
		{"what reports on the base has not seen it",
			func(s *State) { s.Unbegun, s.Silent = []string{"ci"}, "ci"; s.Now = noon.Add(signPatience) }, Tell,
			`the check "ci", which reports on main, has not run on it`},
		{"and it is left to its author anyway", func(s *State) { s.Silent, s.Manual = "ci", byHandOnly; s.Now = noon.Add(signPatience) }, Tell,
			"merge.auto is off"},
		{"nor need it", func(s *State) { s.Silent, s.RequireChecks = "ci", false; s.Now = noon.Add(signPatience) }, Merge, ""},
		{"nor ever, and told", func(s *State) {
			s.Checks, s.Now, s.Notices = ChecksNone, noon.Add(signPatience), []Notice{{Topic: "checks", SHA: head}}
		}, Wait, "its author"},
		{"nor ever, and told of an older head", func(s *State) {
			s.Checks, s.Now, s.Notices = ChecksNone, noon.Add(signPatience), []Notice{{Topic: "checks", SHA: older}}
		}, Tell, "no check has passed on it"},
		{"a check that reported before has not begun", func(s *State) { s.Unbegun, s.Now = []string{"ci"}, noon.Add(signPatience-1) }, Wait,
			`the check "ci", which reported on an earlier head or on main, has not started`},
		{"nor does it ever", func(s *State) { s.Unbegun, s.Now = []string{"ci"}, noon.Add(signPatience) }, Merge, ""},
		{"nor does it ever, and it failed before", func(s *State) {
			s.Unbegun, s.FailedBefore, s.Now = []string{"ci"}, "ci", noon.Add(signPatience)
		}, Tell, `its author to merge it: the check "ci" failed on an earlier head, and has not run on this one`},
		{"nor does it ever, it failed before, and that is said", func(s *State) {
			s.Unbegun, s.FailedBefore, s.Now, s.Notices = []string{"ci"}, "ci", noon.Add(signPatience), []Notice{{Topic: FailedBefore, SHA: head}}
		}, Wait, "has not run on this one"},
		{"nor does it ever, it failed before, and the base is ahead", func(s *State) {
			s.Unbegun, s.FailedBefore, s.Now, s.Mergeable = []string{"ci"}, "ci", noon.Add(signPatience), MergeableBehind
		}, Fix, "behind"},
		{"no check has begun that reported before", func(s *State) { s.Unbegun, s.Checks, s.RequireChecks = []string{"ci"}, ChecksNone, false },
			Wait, `"ci"`},
		{"another check failed meanwhile", func(s *State) { s.Unbegun, s.Checks = []string{"ci"}, ChecksFailed }, Fix, "a check failed"},
		{"not begun, merged by hand", func(s *State) { s.Unbegun, s.Manual = []string{"ci"}, byHandOnly }, Wait, `"ci"`},
		{"people talk while checks run for a day", func(s *State) {
			s.Checks, s.Now = ChecksPending, noon.Add(checkPatience)
			s.Opinions = append(s.Opinions, Opinion{By: "mona", SHA: head, State: "COMMENTED", At: noon.Add(time.Hour)})
		}, Escalate, "running for a day"},
		{"nor ever, merged by hand", func(s *State) { s.Checks, s.Now, s.Manual = ChecksNone, noon.Add(signPatience), byHandOnly }, Tell,
			"its author to merge it: merge.auto is off"},
		{"checks running behind the base", func(s *State) { s.Checks = ChecksPending; s.Mergeable = MergeableBehind }, Wait, "running"},
	})
}

func TestUnknownsAreWaitedForAndThenTold(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"an unclear order", func(s *State) { s.Unclear = []verdict.Unclear{{ID: 1, By: "mona"}} }, Wait,
			"mona gave an order that cannot be followed, and is about"},
		{"an unclear order for hours", func(s *State) { s.Unclear, s.Now = []verdict.Unclear{{ID: 1, By: "mona"}}, noon.Add(rulePatience) },
			Escalate, "nobody has told them"},
		{"checks unread", func(s *State) { s.Checks = "" }, Wait, "unknown"},
		{"checks unread for hours", func(s *State) { s.Checks, s.Now = "", noon.Add(rulePatience) }, Escalate, "the state of its checks is " +
			"unknown"},
		{"mergeability unknown", func(s *State) { s.Mergeable = MergeableUnknown }, Wait, "computing"},
		{"nor does it get known", func(s *State) {
			s.Mergeable, s.UnknownSince, s.Now = MergeableUnknown, noon, noon.Add(rulePatience)
		}, Escalate, "GitHub has not said for hours"},
		{"unknown when the machine wakes up", func(s *State) { s.Mergeable, s.Now = MergeableUnknown, noon.Add(72*time.Hour) }, Wait,
			"computing"},
		{"mergeability unread", func(s *State) { s.Mergeable = "" }, Wait, "computing"},
	})
}

func TestReviewIsWaitedForAndThenTold(t *testing.T) {
	runNext(t, ready, []nextCase{
		{"not reviewed, as long as nobody looks", func(s *State) { s.Opinions, s.Now = nil, noon.Add(72*time.Hour) }, Wait, "not reviewed"},
		{"not reviewed for less than hours", func(s *State) {
			s.Opinions, s.AwaitedSince, s.Now = nil, noon, noon.Add(rulePatience-time.Second)
		}, Wait, "not reviewed"},
		{"not reviewed for hours", func(s *State) { s.Opinions, s.AwaitedSince, s.Now = nil, noon, noon.Add(rulePatience) }, Tell,
			"waited for alice or bob for three hours: this head is not reviewed yet"},
		{"not reviewed for hours, made ready just now", func(s *State) {
			s.Opinions, s.AwaitedSince, s.Now, s.RenewedAt = nil, noon, noon.Add(rulePatience), noon.Add(rulePatience)
		}, Wait, "not reviewed"},
		{"not reviewed for hours, and that is said", func(s *State) {
			s.Opinions, s.AwaitedSince, s.Now = nil, noon, noon.Add(rulePatience)
			s.Notices = []Notice{{Topic: NoReviewer, SHA: head}}
		}, Wait, "not reviewed"},
		{"not reviewed for hours, and that was said of another head", func(s *State) {
			s.Opinions, s.AwaitedSince, s.Now = nil, noon, noon.Add(rulePatience)
			s.Notices = []Notice{{Topic: NoReviewer, SHA: older}}
		}, Tell, "not reviewed"},
		{"not reviewed for hours, which nobody asked for", func(s *State) {
			s.Opinions, s.AwaitedSince, s.Now, s.Requested = nil, noon, noon.Add(rulePatience), false
		}, Wait, "nobody has asked"},
		{"disputed for hours", func(s *State) {
			s.Opinions, s.AwaitedSince, s.Now = []Opinion{says("alice", head, verdict.RequestChanges)}, noon, noon.Add(rulePatience)
			s.Orders = []verdict.Command{{ID: 1, Verb: verdict.Dispute, Finding: "facade00", By: "octocat", At: noon}}
		}, Tell, "for three hours: a finding is disputed"},
	})
}
