package forge_test

import (
	"errors"
	"strings"
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

// TestAddressesOfSubmodules takes no address for one of this GitHub unless it certainly is.
func TestAddressesOfSubmodules(t *testing.T) {
	const none = ""
	for host, addresses := range map[string]map[string]string{
		"https://api.github.com/": {
			"https://github.com/acme/lib":              "acme/lib",
			"https://github.com/acme/lib.git":          "acme/lib",
			"https://github.com/Acme/lib.js.git/":      "Acme/lib.js",
			"https://GitHub.com/acme/lib":              "acme/lib",
			"git@github.com:acme/lib.git":              "acme/lib",
			"ssh://git@github.com/acme/lib.git":        "acme/lib",
			"../lib.git":                               "acme/lib",
			"../lib":                                   "acme/lib",
			".././lib/":                                "acme/lib",
			"../../other/lib.git":                      "other/lib",
			"../../../lib/lib":                         none,
			"../../lib":                                none,
			"../":                                      none,
			"./lib.git":                                none,
			"../../other/../lib":                       none,
			"../..":                                    none,
			"../.git":                                  none,
			"../%6cib":                                 none,
			"lib.git":                                  none,
			"/acme/lib.git":                            none,
			"":                                         none,
			"https://github.com/acme":                  none,
			"https://github.com/acme/lib/more":         none,
			"https://github.com/acme/..":               none,
			"https://github.com/acme/../other/lib":     none,
			"https://github.com//acme/lib":             none,
			"https://github.com/acme/%6cib":            none,
			"https://github.com/acme%2Flib/x":          none,
			"https://github.com/acme/lib?x=1":          none,
			"https://github.com/acme/lib#x":            none,
			"https://github.com/acme/lib?":             none,
			"https://github.com/acme/lib\n":            none,
			"https://github.com/acme/l\\ib":            none,
			"https://github.com/acme/li b":             none,
			"https://octocat@github.com/acme/lib":      none,
			"https://octocat:pw@github.com/acme/lib":   none,
			"https://github.com@evil.example/acme/lib": none,
			"https://github.com:443/acme/lib":          none,
			"https://github.com:8443/acme/lib":         none,
			"https://github.com./acme/lib":             none,
			"https://www.github.com/acme/lib":          none,
			"https://gist.github.com/acme/lib":         none,
			"https://api.github.com/acme/lib":          none,
			"https://github.com.evil.example/acme/lib": none,
			"https://gitlab.com/acme/lib":              none,
			"http://github.com/acme/lib":               none,
			"git://github.com/acme/lib":                none,
			"file://github.com/acme/lib":               none,
			"ext::sh -c x github.com:acme/lib":         none,
			"ssh://github.com/acme/lib":                none,
			"ssh://octocat@github.com/acme/lib":        none,
			"ssh://git:pw@github.com/acme/lib":         none,
			"ssh://git@github.com:22/acme/lib":         none,
			"ssh://git@gitlab.com/acme/lib":            none,
			"github.com:acme/lib":                      none,
			"octocat@github.com:acme/lib":              none,
			"git@gitlab.com:acme/lib":                  none,
			"git@evil@github.com:acme/lib":             none,
			"git@github.com:22/acme/lib":               none,
			"git@github.com:acme/lib:x":                none,
			"-uevil:acme/lib":                          none,
		},
		"https://ghe.acme.example/api/v3/": {
			"https://ghe.acme.example/acme/lib.git": "acme/lib",
			"git@ghe.acme.example:acme/lib.git":     "acme/lib",
			"../lib":                                "acme/lib",
			"https://github.com/acme/lib":           none,
		},
		"https://ghe.acme.example:8443/api/v3/": {
			"https://ghe.acme.example:8443/acme/lib":   "acme/lib",
			"https://ghe.acme.example/acme/lib":        none,
			"git@ghe.acme.example:acme/lib":            none,
			"ssh://git@ghe.acme.example:8443/acme/lib": none,
		},
	} {
		c, err := forge.New(forge.Config{APIURL: host, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		for address, want := range addresses {
			got, err := c.Cloned(app, address)
			if (err == nil) != (want != none) || want != none && got.String() != want {
				t.Errorf("%s: %q is of %s, %v; want %q", host, address, got, err, want)
			}
		}
	}
}

func TestTipIsThatOfABranchAlone(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	first := w.commit("main", map[string]string{"a.go": "package main\n"})
	release := w.commit("release/1.x", map[string]string{"b.go": "package main\n"})
	tip := w.commit("main", map[string]string{"a.go": "package app\n"})
	c := w.as(hubot)
	for name, want := range map[string]forge.Branch{
		"": {Repo: app, Name: "main", SHA: tip}, "main": {Repo: app, Name: "main", SHA: tip},
		"release/1.x": {Repo: app, Name: "release/1.x", SHA: release},
	} {
		if got, err := c.Tip(t.Context(), app, name); err != nil || got != want {
			t.Errorf("%q is %+v, %v", name, got, err)
		}
	}
	for name, want := range map[string]error{
		"gone": forge.ErrNotFound, first: forge.ErrNotFound, "release": forge.ErrNotFound,
		"../../pulls": forge.ErrUnreadable, "./main": forge.ErrUnreadable, "a..b": forge.ErrUnreadable, "mallory:main": forge.ErrUnreadable,
		"main/": forge.ErrUnreadable, "main%2f": forge.ErrUnreadable, "main?x": forge.ErrUnreadable, "-": forge.ErrNotFound,
	} {
		if got, err := c.Tip(t.Context(), app, name); !errors.Is(err, want) {
			t.Errorf("%q is %+v, %v; want %v", name, got, err, want)
		}
	}
	if _, err := c.Tip(t.Context(), forge.Repo{Owner: "acme", Name: "none"}, ""); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("of a repository that is not there: %v", err)
	}
}

func TestCompareSaysHowCommitsStandToEachOther(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	first := w.commit("main", map[string]string{"a.go": "package a\n"})
	w.commit("main", map[string]string{"a.go": "package b\n"})
	tip := w.commit("main", map[string]string{"a.go": "package c\n"})
	other := w.commit("topic", map[string]string{"d.go": "package d\n"})
	c := w.as(hubot)
	for _, tc := range []struct {
		base, head string
		contains   bool
		ahead      int
	}{{first, tip, true, 2}, {tip, first, false, 0}, {tip, tip, true, 0}, {tip, other, true, 1}, {other, tip, false, 0}} {
		got, err := c.Compare(t.Context(), app, tc.base, tc.head)
		if err != nil || got.Contains != tc.contains || got.Ahead != tc.ahead ||
			got.URL != w.URL+"/acme/app/compare/"+tc.base+"..."+tc.head {
			t.Errorf("%.7s...%.7s: %+v, %v; want %t, %d", tc.base, tc.head, got, err, tc.contains, tc.ahead)
		}
	}
	if _, err := c.Compare(t.Context(), app, first, strings.Repeat("0", 39)+"1"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a commit that is not there: %v", err)
	}
}
