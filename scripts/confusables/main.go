// Confusables writes the table of characters that look like an ASCII letter or digit, from the data file of
// Unicode Technical Standard 39, confusables.txt (https://www.unicode.org/Public/security/). Each line has an
// ASCII character, and then the characters that look like it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: confusables CONFUSABLES.TXT TABLE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "confusables:", err)
		os.Exit(1)
	}
}

func write(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	var head strings.Builder
	alike := map[rune][]rune{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		if strings.HasPrefix(line, "# Version:") || strings.HasPrefix(line, "# ©") || strings.HasPrefix(line, "# For terms") {
			fmt.Fprintln(&head, line)
		}
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Split(line, ";")
		if len(fields) < 3 {
			continue
		}
		source, err1 := strconv.ParseInt(strings.TrimSpace(fields[0]), 16, 32)
		target, err2 := strconv.ParseInt(strings.TrimSpace(fields[1]), 16, 32)
		if err1 != nil || err2 != nil || source <= unicode.MaxASCII || target > unicode.MaxASCII {
			continue // several characters, or none that looks like ASCII
		}
		if r := rune(target); unicode.IsLetter(r) || unicode.IsDigit(r) {
			alike[r] = append(alike[r], rune(source))
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# Made by scripts/confusables from confusables.txt of Unicode Technical Standard 39.\n%s", &head)
	for r := range rune(unicode.MaxASCII) {
		if len(alike[r]) > 0 {
			slices.Sort(alike[r])
			fmt.Fprintf(&table, "%c%s\n", r, string(alike[r]))
		}
	}
	return os.WriteFile(to, []byte(table.String()), 0o644)
}
