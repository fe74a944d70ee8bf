package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// axis are the keys by which CI runs one job several times, in any system.
	axis = regexp.MustCompile(`(?:^|\.)(?:matrix|parallel\.matrix|axes)\.`)
	// machine are the keys that name the system that a job runs on.
	machine = regexp.MustCompile(`(?i)(?:^|\.)(?:runs-on|os|vmImage|platform|runner|image|executor|labels)(?:\.\[\])?$`)
	system  = regexp.MustCompile(`(?i)windows|macos|osx|\bwin`)
)

// matrices finds workflows with checks that run them fewer times than before, or on
// no machine of a kind any more. A version may take another one's place.
func matrices(f *file, before, after []claim) []Hit {
	if !isWorkflow(f.new.path) || !isWorkflow(f.old.path) || len(commands(before)) == 0 || len(commands(after)) == 0 {
		return nil
	}
	was, is := settings(f.old), settings(f.new)
	if hits := smaller(f, was, is); len(hits) > 0 {
		return hits
	}
	systems := func(list []setting) map[string]setting {
		out := map[string]setting{}
		for _, one := range list {
			key := strings.Join(one.key, ".")
			if !machine.MatchString(key) && !axis.MatchString(key) {
				continue
			}
			for _, name := range system.FindAllString(one.value, -1) {
				name = strings.ToLower(name[:3])
				if _, found := out[name]; !found {
					out[name] = one
				}
			}
		}
		return out
	}
	now := systems(is)
	for name, one := range systems(was) {
		if _, still := now[name]; !still {
			return []Hit{{CI, f.path(), one.line, f.old.at(one.line), "", "The checks no longer run on " + one.value + "."}}
		}
	}
	return nil
}

// smaller finds the first axis with fewer elements than it had, and elements that are
// new among those that are left out.
func smaller(f *file, was, is []setting) []Hit {
	group := func(list []setting) (map[string][]setting, []string) {
		out, order := map[string][]setting{}, []string(nil)
		for _, one := range list {
			key := strings.Join(one.key, ".")
			at := axis.FindStringIndex(key)
			if at == nil {
				continue
			}
			// What follows an element of "include" is part of it.
			name, _, _ := strings.Cut(key[at[1]:], ".[]")
			if name = key[:at[1]] + name; out[name] == nil {
				order = append(order, name)
			}
			out[name] = append(out[name], one)
		}
		return out, order
	}
	before, order := group(was)
	after, _ := group(is)
	size := func(list []setting) int {
		items := map[[2]int]bool{}
		for i, one := range list {
			if len(one.key) > 0 && one.key[len(one.key)-1] == "[]" || one.item == 0 {
				items[[2]int{one.line, i}] = true
			} else {
				items[[2]int{one.item, -1}] = true
			}
		}
		return len(items)
	}
	for _, name := range order {
		old, now := before[name], after[name]
		excludes := strings.HasSuffix(name, ".exclude")
		if len(now) == 0 && (excludes || !slices.ContainsFunc(is, func(s setting) bool { return sameJob(s.key, old[0].key) })) {
			continue
		}
		if dynamic := slices.ContainsFunc(now, func(s setting) bool { return strings.Contains(s.value, "fromJ") }); !excludes && size(now) < size(old) && !(dynamic && slices.ContainsFunc(old, func(s setting) bool { return strings.Contains(s.value, "fromJ") })) {
			line, text := old[0].line, ""
			if len(now) > 0 {
				line, text = now[0].line, f.new.at(now[0].line)
			}
			return []Hit{{CI, f.path(), line, f.old.at(old[0].line), text, "The checks run for fewer cases of their matrix."}}
		}
	}
	for name, now := range after {
		if strings.HasSuffix(name, ".exclude") && len(before[strings.TrimSuffix(name, ".exclude")])+len(before) > 0 && size(now) > size(before[name]) {
			return []Hit{{CI, f.path(), now[0].line, "", f.new.at(now[0].line), "A case is taken out of the checks' matrix."}}
		}
	}
	return nil
}

// sameJob reports whether two keys lie in one job.
func sameJob(a, b []string) bool {
	n := min(2, len(a), len(b))
	return n > 0 && slices.Equal(a[:n], b[:n])
}
