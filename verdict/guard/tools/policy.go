package tools

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

func isOwners(name string) bool { return change.FitsAny(owners, name) }

// NamesOwners reports whether a file says who owns what, by patterns of paths or for its folder.
func NamesOwners(name string) bool {
	return isOwners(name) && strings.Contains(path.Base(name), "OWNERS")
}

func isOwn(name string) bool { return strings.HasPrefix(name, ".touchstone/") }

// policies finds owners, review settings, guidelines and contributor rules that became weaker.
func policies(files []change.File) []change.Finding {
	kept, all := sentencesIn(files), guidelinesIn(files)
	var found []change.Finding
	for _, f := range files {
		if string(f.Before) == string(f.After) && f.OldPath == f.Path {
			continue
		}
		switch {
		case isOwners(f.OldPath) || isOwners(f.Path):
			found = append(found, ownership(f, files)...)
		case isOwn(f.OldPath) && path.Ext(f.OldPath) == ".md":
			found = append(found, guidelineRows(f, all)...)
			found = append(found, lostRules(f, kept)...)
		case isOwn(f.Path) && path.Ext(f.Path) == ".md":
			found = append(found, guidelineRows(f, all)...)
		case isOwn(f.OldPath) || isOwn(f.Path) && path.Ext(f.Path) != ".md":
			found = append(found, reviewSettings(f)...)
		case isGuide(f.OldPath):
			found = append(found, lostRules(f, kept)...)
		case path.Base(f.Path) == ".gitattributes":
			found = append(found, hidden(f)...)
		}
	}
	return found
}

func policy(tier change.Tier, rule, why string, at change.Place) change.Finding {
	return change.Finding{Tier: tier, Kind: change.Policy, Rule: "policy/" + rule, Why: why, Place: at}
}

// statement is the meaning of a line or a value of a policy.
type statement struct {
	text string
	line int
}

// statements returns what a file says, independent of formatting: the values of a known format by their keys,
// or else the lines without comments.
func statements(name string, content []byte) ([]statement, error) {
	if content == nil {
		return nil, nil
	}
	root, err := doc.Parse(name, content)
	var out []statement
	if err == nil {
		if strings.Contains(name, "mergify") {
			deciding(root)
		}
		if strings.HasPrefix(name, ".github/settings.y") || path.Base(name) == "OWNERS" { // labels decide nothing, unless they keep from merging
			keeps := func(label string) bool { return strings.HasPrefix(label, "do-not-merge") }
			root.Items = slices.DeleteFunc(root.Items, func(n *doc.Node) bool {
				return n.Key == "labels" && !slices.ContainsFunc(n.Strings(), keeps) || n.Key == "milestones"
			})
		}
		visit(root, nil, nil, func(n *doc.Node, keys []string, _ []*doc.Node) {
			if n.Kind == doc.Scalar || len(n.Items) == 0 && len(keys) > 0 {
				out = append(out, statement{strings.Join(keys, "/") + ": " + n.Value, n.Line})
			}
		})
		return out, nil
	}
	if path.Ext(name) != "" || strings.HasPrefix(path.Base(name), "OWNERS") {
		return nil, err
	}
	for i, line := range strings.Split(string(content), "\n") {
		line, _, _ = strings.Cut(line, " #")
		if text := strings.Join(strings.Fields(line), " "); text != "" && text[0] != '#' {
			out = append(out, statement{text, i + 1})
		}
	}
	return out, nil
}

// deciding keeps of Mergify's configuration what decides about a merge: conditions, who may give commands, what the queue
// merges untested, and the rules that merge, queue, approve or close. Others add labels to pull requests, and the like.
// See https://docs.mergify.com/workflow/actions/ and https://docs.mergify.com/merge-queue/rules/
func deciding(root *doc.Node) {
	root.Items = slices.DeleteFunc(root.Items, func(n *doc.Node) bool {
		other := func(setting *doc.Node) bool { // how fast, and what is said of it
			return slices.Contains([]string{"queue_controls_comment", "max_parallel_checks", "batch_size", "batch_max_wait_time",
				"commit_message_template", "commit_message_format"}, setting.Key)
		}
		switch n.Key {
		case "merge_queue":
			n.Items = slices.DeleteFunc(n.Items, other)
		case "queue_rules":
			for _, queue := range n.Items {
				queue.Items = slices.DeleteFunc(queue.Items, other)
			}
		}
		return n.Key == "priority_rules" || n.Key == "merge_queue" && len(n.Items) == 0
	})
	if rules := root.Get("pull_request_rules"); rules != nil {
		rules.Items = slices.DeleteFunc(rules.Items, func(rule *doc.Node) bool {
			actions := rule.Get("actions").Members()
			return len(actions) > 0 && !slices.ContainsFunc(actions, func(a *doc.Node) bool {
				return slices.Contains([]string{"merge", "queue", "review", "close", "post_check", "dismiss_reviews"}, a.Key)
			})
		})
	}
}

// ownership compares who must approve. For an owners file it compares who owns what; in other policies it
// holds every change of meaning.
func ownership(f change.File, files []change.File) []change.Finding {
	before, errBefore := statements(f.OldPath, f.Before)
	after, errAfter := statements(f.Path, f.After)
	if errAfter != nil && (errBefore == nil || f.Before == nil) { // nobody had to approve by a file that is new
		return []change.Finding{policy(change.HoldIf(f.Before != nil), "unread", "Who has to approve cannot be read: "+errAfter.Error(),
			change.Place{Path: f.Name()})}
	}
	if f.Path != f.OldPath && !(isOwners(f.OldPath) && isOwners(f.Path)) && f.OldPath != "" && f.Path != "" {
		return []change.Finding{policy(change.Hold, "owners", "Who has to approve is changed: the file has another name now.",
			change.Place{Path: f.Name(), Before: f.OldPath, After: f.Path})}
	}
	if NamesOwners(f.Name()) {
		return ownersLost(f, owned(before), owned(after), files)
	}
	order := func(a, b statement) int { return strings.Compare(a.text, b.text) } // maps have no order
	slices.SortStableFunc(before, order)
	slices.SortStableFunc(after, order)
	more := len(after) - len(before)
	before, after = append(before, make([]statement, max(0, more))...), append(after, make([]statement, max(0, -more))...)
	for i, is := range after {
		if was := before[i]; was.text != is.text {
			return []change.Finding{policy(change.Hold, "owners", "Who has to approve is changed.",
				change.Place{Path: f.Name(), Line: cmp.Or(is.line, was.line), Before: was.text, After: is.text})}
		}
	}
	return nil
}

// reviewSettings holds changed or removed settings of this product, and new ones that require less.
func reviewSettings(f change.File) []change.Finding {
	before, errBefore := statements(f.OldPath, f.Before)
	after, errAfter := statements(f.Path, f.After)
	if f.OldPath != "" && f.Path != f.OldPath {
		after, errAfter = nil, nil // the file is not read at its new path
	}
	if errAfter != nil && errBefore == nil {
		return []change.Finding{policy(change.Hold, "unread", "The review's settings cannot be read: "+errAfter.Error(),
			change.Place{Path: f.Name()})}
	}
	has := func(list []statement, s statement) bool {
		return slices.ContainsFunc(list, func(o statement) bool { return o.text == s.text })
	}
	var found []change.Finding
	for _, was := range before {
		if !has(after, was) {
			found = append(found, policy(change.Hold, "setting", "A setting of the review is changed or gone.",
				change.Place{Path: f.Name(), Line: was.line, Before: was.text}))
		}
	}
	for _, is := range after {
		name, value, _ := strings.Cut(strings.ToLower(is.text), ": ")
		asksLess := slices.ContainsFunc(lax, func(word string) bool { return strings.Contains(name, word) }) && !off(value)
		void := strings.HasPrefix(name, "verify/command") && (value == "true" || value == ":" || strings.HasPrefix(value, "echo"))
		if !has(before, is) && (asksLess || void) {
			found = append(found, policy(change.Hold, "setting", "The review is told to look away, or that less is needed than before.",
				change.Place{Path: f.Name(), Line: is.line, After: is.text}))
		}
	}
	return found
}

// hidden finds attributes that hide a file's diff, or mark a file as generated.
func hidden(f change.File) []change.Finding {
	var found []change.Finding
	for i, line := range strings.Split(string(f.After), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.Contains(string(f.Before), line) || fields[0][0] == '#' {
			continue
		}
		if k := slices.IndexFunc(fields[1:], func(a string) bool { return slices.Contains(hiding, a) }); k >= 0 {
			found = append(found, policy(change.Evidence, "hidden", "Files are marked "+fields[1+k]+", so that their changes are not shown.",
				change.Place{Path: f.Path, Line: i + 1, After: line}))
		}
	}
	return found
}
