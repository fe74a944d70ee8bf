// Guardmutants writes the guard's scenarios in all other ways with the same meaning, and counts where the
// guard's findings then differ. The last line is "guard: N scenarios, M spellings, 0 differ"; the exit status
// is 1 if it is not.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/verdict/guard/guardtest"
)

func main() {
	only := flag.String("only", "", "try only the spellings and scenarios whose names contain this")
	quiet := flag.Bool("quiet", false, "print only how many differ by spelling")
	show := flag.Bool("show", false, "print the files that differ as they are spelled")
	flag.Parse()
	dirs := flag.Args()
	if len(dirs) == 0 {
		dirs = []string{filepath.FromSlash("verdict/guard/testdata/hit"), filepath.FromSlash("verdict/guard/testdata/pass")}
	}
	scenarios, spellings, differ := 0, 0, map[string]int{}
	for _, dir := range dirs {
		all, err := guardtest.Read(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "guardmutants:", err)
			os.Exit(1)
		}
		scenarios += len(all)
		for _, s := range all {
			for _, spelling := range guardtest.Spellings() {
				for _, v := range guardtest.Variants(s, spelling) {
					if !strings.Contains(s.Name+": "+v.Name, *only) {
						continue
					}
					spellings++
					differs := v.Differs()
					if differs == "" {
						continue
					}
					differ[spelling.Name]++
					if *quiet {
						continue
					}
					fmt.Printf("%s: %s: %s\n", s.Name, v.Name, differs)
					for _, f := range v.Change.Files {
						if *show {
							fmt.Printf("--- %s\n%s+++ %s\n%s", cmp.Or(f.OldPath, "nothing"), f.Before, cmp.Or(f.Path, "nothing"), f.After)
						}
					}
				}
			}
		}
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(differ)) {
		fmt.Printf("%5d  %s\n", differ[name], name)
		total += differ[name]
	}
	fmt.Printf("guard: %d scenarios, %d spellings, %d differ\n", scenarios, spellings, total)
	if total > 0 || spellings == 0 {
		os.Exit(1)
	}
}
