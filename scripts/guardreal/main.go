// Guardreal runs the guard and the text checks of this commit on the histories of local clones. It prints
// what they hold, how much of that a person labelled as right, which announced lowerings they did not see,
// and the cost. The repository holds only facts: commits, places and labels. Guardreal reports and skips a
// missing clone.
//
// The first results of each set of repositories, after the mistakes that the previous set showed were
// corrected:
//
//	set            repositories  changes  held  TRUE  ARGUABLE  FALSE  held for text
//	November 23, 1           28    8,400    93    29        42     22              8
//	November 23, 2           30    8,886    62    24        23     15              3
//	November 23, 3           25    7,500    54    32        16      6              7
//	November 23, 4           21    6,300    38    21        10      7              6
//	November 23, 5           14    4,200    20     7         7      6              0
//	November 23, 6           15    4,500    31    14        11      6              0
//	November 23, 7           14    4,200    25    15         6      4              2
//	November 23, 8           11    3,300    21    15         2      4              0
//	November 23, 9           19    5,700    18    12         3      3              3
//	November 23, 10          17    5,100    31    25         6      0              2
//	November 23, 11           8    2,400    18    13         3      2              0
//	November 23, 12           6    1,800    52    29        14      9              0
//	November 24, 13          11    3,300    30    17         7      6              1
//	November 24, 14          13    3,790    45    36         5      4              0
//	November 25, 15          16    4,767    38    25         9      4             24
//	November 26, 16          14    4,200    78    12         5     61              2
//	November 26, 17          10    3,000    26    15         8      3              2
//	November 26, 18          32    6,400    40    16        15      9              5
//	November 26, 19          24    4,800    41    22        12      7              0
//	November 27, 20          24    4,800    44    31        10      3              3
//	November 27, 21          24    4,800    21     7         6      8              0
//	November 27, 22          24    4,800    25    16         7      2              1
//	November 27, 23          24    4,800    29    11        14      4              2
//	November 27, 24          24    4,800    29    16         8      5              2
//	November 27, 25          24    4,800    34    18        10      6              3
//	November 27, 26          24    4,800    46    30         9      7              0
//	November 28, 27          24    4,800    45    30        11      4              3
//	November 28, 28          24    4,800    15     6         5      4              1
//
// The lowerings that titles announce and diffs confirm, and how many the guard saw and held at first:
//
//	set  announced  seen  held
//	1-3         99    60    43
//	4           81    44    24
//	5           31    19    12
//	6           33    16     3
//	7           11     8     3
//	8            6     4     3
//	9            9     8     5
//	10          10     8     5
//	11          24    17     8
//	12          16    14     8
//	13          25    15     9
//	14          14    10     9
//	15          31    16     5
//	16          35    30    12
//	17          12     8     3
//	18          31    14     6
//	19          30    14     6
//	20          58    28    11
//	21         137    80    10
//	22          73    53    11
//	23         115    99    18
//	24         121   106    20
//	25         153   135    19
//	26         122   111    28
//	27         148   127    25
//	28         111    92     9
//
// Many of the lowerings that were not held are not holds by the words of the rules, such as ignored warnings,
// suppression in one place, and what a project's own helper or list leaves out; announced.csv says so for
// sets 11 to 28. Of the 13 holds in set 15, 5 were held at first; 10 are now, and 24 of its 31 lowerings are
// seen. Of the 18 holds in set 16, 11 were held, of the 3 in set 17 all. Of the 10 in set 18, 5 were held at
// first; 8 are now, and 20 of its 31 lowerings are seen. Of the 9 in set 19, 6 were held at first; 7 are now,
// and 23 of its 30 lowerings are seen. Of the 23 in set 20, 9 were held at first; six of its other 14 raise a
// limit of one repository's own benchmarks. 19 are now, and all of its 58 lowerings are seen. Of the 80
// lowerings in sets 11 to 14 all are seen now, and 45 of 49 holds are held.
//
// For set 21 titles and bodies were searched more widely: 118 of its 137 lowerings are minor. Of its 19 holds, 5
// were held at first; the person who labelled what is held takes 14 of the 19 for due, 3 for contested and 2 for
// evidence. One more of its changes than in the table carries a program checked in by mistake, and 19 carry other
// binary files, all of which are held and counted apart. Since then seven FALSE ones are no longer held and seven
// are new, six TRUE and one FALSE in the view of those who made the rules; 108 of its lowerings are seen and 8 of
// the 19 held.
//
// Set 22 was run once, with the rules as set 21 left them. It is the first set on which the held changes meet
// both goals: 64 % TRUE, 92 % TRUE or ARGUABLE. 8 of its 17 holds were held at first, and 14 to 16 of the 17 are due
// in the view of the person who labelled the held ones. Since then three are new, TRUE in the view of those who made
// the rules; 56 of its 73 lowerings are seen and 9 of the 17 held.
//
// Set 23 was run once as well, with the rules as set 22 and the searches after it left them: a deleted test, a job
// whose own script decides, and one line of evidence for each kind of what no rule reads. The person who listed what
// is announced did not see the rules, and the person who labelled the holds did not see the list. It meets neither
// goal for the held changes: 38 % TRUE, 86 % TRUE or ARGUABLE. 86 % of its lowerings are seen (73 % in set 22), 14
// of its 34 holds are held. Evidence is 70 lines for 100 changes by people, and 10 of 674 changes by bots have any.
// 29 of its changes carry binary files, seven of them TRUE; texts.csv has at most eight of each change's places.
// Since then, in tests, two FALSE ones are no longer held and ten are new, six TRUE and four ARGUABLE in the view of
// those who made the rules, and in pipelines and settings three FALSE and four ARGUABLE ones are no longer held and 15
// are new, all but one TRUE. All its 34 holds are held.
//
// Set 24 was run once, with the rules as set 23 left them, and by as many people as set 23. It misses both goals for the
// held changes: 55 % TRUE, 83 % TRUE or ARGUABLE. 88 % of its lowerings are seen, 18 of its 46 holds are held. 23 of 4,506
// changes by people are held (0.5 %). Of 294 by bots six are, all of which put a skip on tests that a bot takes for flaky,
// and all TRUE. Evidence is 98 lines for 100 changes by people, and 8 of the bots' changes have any. 21 of its changes
// carry binary files. Since then one FALSE one is no longer held and 19 are new, 14 TRUE and five ARGUABLE in the view of
// those who made the rules; 106 of its lowerings are seen and 32 of the 46 held.
//
// After that the rules were corrected by their labels in all sets together, and by tables of the forms in which frameworks,
// tools and pipelines leave something out. Of 284 held changes in 93 repositories, 150 TRUE, 68 ARGUABLE and 9 FALSE by
// their labels, six ARGUABLE and four FALSE ones are no longer held, and no TRUE one.
//
// Set 25 was run once after that, by as many people as set 23. It misses both goals for the held changes: 53 % TRUE, 82 %
// TRUE or ARGUABLE. 88 % of its lowerings are seen, 12 of its 44 holds are held. 33 of 3,997 changes by people are held
// (0.8 %), and one of 803 by bots (0.1 %). Evidence is 106 lines for 100 changes by people, and 34 of the bots' changes
// have any. Since then its six FALSE and four of its ARGUABLE ones are no longer held, and eight are new, TRUE in the view
// of those who made the rules; 145 of its lowerings are seen and 16 of the 44 held.
//
// Set 26 was run once with one rule more: a change is held that says of itself, in its title or a commit's message, that
// it leaves out a check, if something in it is evidence for that. As many people as in set 23 listed and labelled. It meets
// the first goal for the held changes and misses the second by three: 65 % TRUE, 85 % TRUE or ARGUABLE. 91 % of its
// lowerings are seen (goal 90), 17 of its 36 holds are held (47 %, goal 75). 45 of 4,240 changes by people are held (1.1 %),
// and one of 560 by bots (0.2 %). No text is held, and four changes carry binary files. Evidence is 89 lines for 100 changes
// by people. Of the nine that the new rule held, three are TRUE and five ARGUABLE, nearly all of these because the check is
// left out on a condition: such a sentence is evidence since. With this and the repair of what the FALSE ones showed, six
// of its FALSE, three ARGUABLE and two TRUE ones are no longer held, which leaves 28 TRUE, 6 ARGUABLE and 1 FALSE; 15 of
// the 36 are held. All p99 are below 1 s.
//
// Set 27 was run once, with the rules as set 26 left them and two small ones more, by as many people as set 23. It meets both
// goals for the held changes: 67 % TRUE, 91 % TRUE or ARGUABLE. 45 of 4,241 changes by people are held (1.1 %), and none of
// 559 by bots. It misses both goals for what is announced: 86 % of the lowerings are seen, 10 of the 26 holds are held; its
// list counts skips on a condition and dropped cells of a matrix as evidence, which set 26 in part counted as holds. Three
// changes are held for text, two of them by a bot that brings translations, which are no longer held. Seven carry binary
// files. Since then 131 of its lowerings are seen. Beside other work one p99 is above 1 s (1.4 s, redis/go-redis).
//
// After that 195 attacks were written in many ecosystems, of which the guard held 69, saw 89 more and missed 37. It holds
// 121 now and misses 15, and none of 30 harmless twins is held. In 38,800 changes of 194 repositories two more were held
// by that, neither of them TRUE; one still is, and none is gone. Of the holds due in sets 24 to 27, 33 of 46, 20 of 44,
// 16 of 36 and 10 of 26 are held.
//
// Set 28 was run once after that, by as many people as set 23. It holds few changes, 15 of 3,985 by people (0.4 %) and none
// of 815 by bots, and misses the other goals: 40 % TRUE, 73 % TRUE or ARGUABLE; 83 % of the lowerings are seen, 5 of the 20
// holds are held. Eleven of these 20 can be argued, by the person who listed them. Five of the 19 that are not seen tell
// Dependabot to leave something out. One change is held for text; four carry binary files. Since then two of its FALSE ones
// are no longer held, one of them due for another place, and three are new, all due by the list; 98 of its lowerings are
// seen, 7 of the 20 held. In the other 194 repositories eight are new: six due by the lists, and two whose subject may be
// gone. All p99 are below 1 s.
//
// After that 66 more holds of the sets above were labelled. Those for what a change says of itself are 15 TRUE, 9 ARGUABLE and
// 11 FALSE, since a later commit often undoes what the message of an earlier one says; only titles count since then.
// Binary files were held in 105 of 48,400 changes, of which 58 have labels: 11 TRUE, 22 ARGUABLE, 25 FALSE. Those in
// folders of tests, and documents, are evidence since then.
//
// Set 29 was run once with that. It has 32 repositories, of which one had been in an earlier set (immer, 2 TRUE), and says
// nothing of recall, since nobody listed what is announced. It meets the first goal for the held changes and misses the
// second: of 62, 39 are TRUE and 12 ARGUABLE (63 %, 82 %). 61 of 5,328 changes by people are held (1.1 %), and one of 1,072
// by bots. Those for a title are 10 TRUE, 1 ARGUABLE and 1 FALSE. Seven changes are held for text, none of them TRUE, and two
// carry binary files. Since then four FALSE ones are evidence, as are six of the texts.
//
// Seven of the held changes in set 5 are a test framework's own. Nine in set 8 are from one repository that
// raises a limit each time, six in set 10 and eleven in set 14 from one that names other owners, 21 in set 12
// from one whose tests skip what a system lacks, and 21 of the texts in set 15 from one that keeps minified
// code. 50 in set 16 are FALSE because of one submodule with the name of a check; eight of its other 28 were
// no longer held once the mistakes that they showed were corrected, which leaves 12 TRUE, 5 ARGUABLE and 3
// FALSE. Of everything labelled in it since, 25 TRUE, 5 ARGUABLE and 2 FALSE are held. In set 17 two FALSE
// ones are no longer held and one TRUE is new: 16 TRUE, 8 ARGUABLE and 1 FALSE. In set 18 its nine FALSE and
// four ARGUABLE ones are no longer held and five TRUE are new: 21 TRUE and 11 ARGUABLE. In set 19 four FALSE
// ones are no longer held, and one TRUE and one ARGUABLE are new: 23 TRUE, 13 ARGUABLE and 3 FALSE. In set 20 its three
// texts are no longer held, and ten TRUE and five ARGUABLE are new: 41 TRUE, 15 ARGUABLE and 3 FALSE. The rules
// were corrected after each set, so what they hold in a set now says nothing about other repositories.
//
// The rule that selected set 18 was written before any of it was fetched: for each of twelve ecosystems an
// ordered list of repositories in no earlier set, of which the first available ones were taken: three each
// for Go, Python, JavaScript, Rust, the JVM, Ruby, PHP and .NET, and two each for Elixir, Swift, Dart and
// C++; from each the last 200 first-parent commits.
//
// The rule that selected set 19 was written before any of it was run or looked at: from each line the first
// two that could be had within three minutes, from each the last 200 first-parent commits. Every one of these
// changes was run, every held change is labelled, and none was left out afterwards.
//
//	Go      kubernetes-sigs/kustomize, sqlc-dev/sqlc, redis/go-redis, urfave/cli
//	Python  pypa/hatch, benoitc/gunicorn, aio-libs/yarl, fastapi/typer
//	JS      nestjs/nest, unjs/h3, pinojs/pino, immerjs/immer
//	Rust    quinn-rs/quinn, ratatui/ratatui, tower-rs/tower, hyperium/h2
//	JVM     ben-manes/caffeine, square/wire, google/guice, brettwooldridge/HikariCP
//	Ruby    rails/thor, ruby/net-imap, redis/redis-rb, socketry/async
//	PHP     vimeo/psalm, doctrine/dbal, sebastianbergmann/php-code-coverage, thephpleague/commonmark
//	.NET    Humanizr/Humanizer, reactiveui/refit, autofac/Autofac, dotnet/BenchmarkDotNet
//	Elixir  elixir-ecto/ecto_sql, elixir-mint/mint, wojtekmach/req, elixir-tesla/tesla
//	Swift   realm/SwiftLint, apple/swift-nio-ssl, vapor/fluent-kit, ReactiveX/RxSwift
//	Dart    dart-lang/build, dart-lang/shelf, flame-engine/flame, fluttercommunity/plus_plugins
//	C++     google/re2, nghttp2/nghttp2, zeromq/libzmq, open-source-parsers/jsoncpp
//
// The rule that selected set 20 was written before any of it was fetched, run or looked at: from each line the
// first two that could be had within three minutes, from each the last 200 first-parent commits. A change is a
// bot's if guardreal takes its author for one, and a person's otherwise. Every one of these changes was run,
// every held change is labelled, and none was left out afterwards. What its titles announce was listed before
// the guard was run on it.
//
//	Go      golang-migrate/migrate, open-policy-agent/opa, dgraph-io/badger, spf13/afero
//	Python  HypothesisWorks/hypothesis, tornadoweb/tornado, python-jsonschema/jsonschema, pypa/cibuildwheel
//	JS      preactjs/preact, socketio/socket.io, sindresorhus/ky, mobxjs/mobx
//	Rust    rust-lang/regex, tokio-rs/bytes, serde-rs/json, sharkdp/hyperfine
//	JVM     diffplug/spotless, apache/commons-csv, junit-team/junit-framework, JakeWharton/timber
//	Ruby    ruby/rbs, Shopify/tapioca, rubocop/rubocop-performance, ruby/debug
//	PHP     infection/infection, ramsey/uuid, doctrine/migrations, mockery/mockery
//	.NET    cake-build/cake, AngleSharp/AngleSharp, shouldly/shouldly, nsubstitute/NSubstitute
//	Elixir  elixir-nx/nx, elixir-lsp/elixir-ls, dashbitco/broadway, michalmuskala/jason
//	Swift   apple/swift-nio-http2, pointfreeco/swift-snapshot-testing, vapor/postgres-nio, kean/Nuke
//	Dart    dart-lang/dart_style, google/json_serializable.dart, dart-lang/dartdoc, invertase/melos
//	C++     google/flatbuffers, pybind/pybind11, google/glog, ninja-build/ninja
//
// The rule that selected set 23 was written before any of it was fetched, run or looked at: two repositories of
// each of twelve languages, in no earlier set; one that could not be had was replaced by the first spare of its
// line. From each the last 200 first-parent commits; every held change is labelled, and none was left out
// afterwards. The rules of sets 24 to 28 say the same. Those of set 29 were chosen by name for their languages, among
// what could be had. The last 176 lines of ranges.csv are the repositories of sets 23 to 28, 24 of each, and the 32 of
// set 29.
//
// Guardreal looks for clones below -clones as OWNER/NAME, OWNER+NAME/repo or NAME, bare or not.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	places "touchstone/scripts/clones"
	"touchstone/scripts/command"
	"touchstone/scripts/program"
)

func main() {
	clones := flag.String("clones", "", "directory that holds the clones")
	only := flag.String("only", "", "take only the repositories whose names contain this")
	part := flag.String("part", "", "take only the repositories of this part: seen or unseen")
	again := flag.String("again", "", "take only the changes that this earlier list says are held")
	list := flag.String("list", "", "write every finding with its label to this CSV file")
	command.ParseFlags("usage: guardreal -clones DIR [-part seen|unseen] [-only TEXT] [-again FILE] [-list FILE]\n\n"+
		"Measure the guard and the text checks on real histories.", func() bool { return *clones != "" })
	command.Run("guardreal", func(ctx context.Context) (bool, error) {
		return true, run(ctx, os.Stdout, *clones, *part, *only, *again, *list)
	})
}

func run(ctx context.Context, out io.Writer, clones, part, only, again, list string) error {
	ranges, err := table("ranges.csv")
	if err != nil {
		return err
	}
	said, err := readLabels()
	if err != nil {
		return err
	}
	misses, err := missed()
	if err != nil {
		return err
	}
	wanted, err := heldIn(again)
	if err != nil {
		return err
	}
	listed, err := create(list)
	if err != nil {
		return err
	}
	all := map[string][]result{}
	for _, r := range ranges {
		if part != "" && r[3] != part || !strings.Contains(r[0], only) {
			continue
		}
		dir := places.Find(clones, r[0])
		if dir == "" {
			fmt.Fprintf(out, "SKIPPED: there is no clone of %s below %s\n", r[0], clones)
			continue
		}
		n, err := strconv.Atoi(r[2])
		if err != nil {
			return err
		}
		results, err := history(ctx, dir, r[0], r[1], n, said, commitsOf(misses, r[0]), wanted)
		if err != nil {
			return fmt.Errorf("%s: %w", r[0], err)
		}
		fmt.Fprintf(out, "%-34s %s\n", r[0], held(results, func(result) bool { return true }))
		all[r[3]] = append(all[r[3]], results...)
		if err := listed.write(results); err != nil {
			return err
		}
	}
	for _, part := range []string{"seen", "unseen"} {
		if len(all[part]) > 0 {
			fmt.Fprintf(out, "\n== repositories that the rules were made on: %s\n", map[string]string{"seen": "yes", "unseen": "no"}[part])
			summary(out, all[part], misses)
		}
	}
	if err := labelledRules(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmemory: %s at its peak\n", peak())
	return listed.Close()
}

// peak is the peak memory of this process.
func peak() string {
	if _, most := program.Memory("self"); most > 0 {
		return fmt.Sprintf("%d kB", most>>10)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d kB", m.Sys>>10)
}

// listing is a table of findings, for people to look at and label.
type listing struct {
	io.WriteCloser
	*csv.Writer
}

// create begins a listing in a file, or discards the listing if the file has no name.
func create(name string) (listing, error) {
	to, err := os.Create(cmp.Or(name, os.DevNull))
	if err != nil {
		return listing{}, err
	}
	l := listing{to, csv.NewWriter(to)}
	return l, l.Writer.Write([]string{"repo", "commit", "who", "tier", "kind", "rule", "place", "label", "why", "title"})
}

// heldIn returns the commits that a listing marks as held; nil if the listing has no name.
func heldIn(name string) (map[string]bool, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	all := map[string]bool{}
	for _, r := range rows {
		if len(r) > 3 && r[3] == hold {
			all[r[1]] = true
		}
	}
	return all, err
}

// write adds the findings of some changes.
func (l listing) write(all []result) error {
	for _, r := range all {
		who := "person"
		if r.commit.bot() {
			who = "bot"
		}
		for _, f := range r.findings {
			_ = l.Writer.Write([]string{r.repo, r.commit.sha[:12], who, f.tier, f.kind, f.rule, fmt.Sprintf("%s:%d", f.path, f.line), f.label,
				f.why, r.commit.title})
		}
	}
	l.Flush()
	return l.Error()
}
