package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"touchstone/verdict"
)

// Script is what the model plays, as JSON.
type Script struct {
	// Defects are found by the reviewer and removed by the author.
	Defects []Defect `json:"defects"`
	// Faults lists, by role ("reviewer", "checker", "drafter", "author"), the fault in the first, second …
	// turn of that role's sessions; an empty name means no fault, as does every turn beyond the list. See
	// faults.
	Faults map[string][]string `json:"faults"`
	// Draft is the answer of a session that rewords a guideline row.
	Draft verdict.Draft `json:"draft"`
	// CostUSD is the cost that each turn reports, in US dollars.
	CostUSD float64 `json:"cost_usd"`
	// DelayMS is the delay before each event, in milliseconds.
	DelayMS int `json:"delay_ms"`

	// path is the file from which the script was read; the sessions played so far are counted in a file
	// beside it.
	path string
}

// Defect is a piece of text that should not be in a file.
type Defect struct {
	// Path is the file, slash-separated, relative to the working directory.
	Path string `json:"path"`
	// Contains is the exact text whose presence is the defect.
	Contains string `json:"contains"`
	// Fix replaces Contains.
	Fix string `json:"fix"`
	// Finding is the reviewer's report; path, lines and a missing quote are filled in from the file.
	Finding verdict.Finding `json:"finding"`
	// Refuted, if set, is the result of a session that tries to refute the finding; without it, the finding
	// is upheld.
	Refuted *verdict.Check `json:"refuted"`
}

// faults are the possible names in Script.Faults, in addition to "slow:DURATION".
var faults = map[string][]string{
	"reviewer": {"", "crash", "hang", "overloaded", "no-marker", "wrong-nonce", "bad-json", "withdraw"},
	"checker":  {"", "crash", "hang", "overloaded"},
	"drafter":  {"", "crash", "hang", "overloaded"},
	"author":   {"", "crash", "hang", "overloaded", "no-change", "dispute"},
}

func loadScript(path string) (*Script, error) {
	if path == "" {
		return nil, errors.New("name the script to play: scriptedmodel --script FILE …")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the script: %w", err)
	}
	defer file.Close()
	script := &Script{path: path}
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(script); err != nil {
		return nil, fmt.Errorf("read the script %s: %w", path, err)
	}
	for i, defect := range script.Defects {
		if !filepath.IsLocal(filepath.FromSlash(defect.Path)) || defect.Contains == "" {
			return nil, fmt.Errorf("script %s: defect %d needs a path inside the working directory and a text to look for", path, i+1)
		}
	}
	return script, nil
}

// locate returns the finding of a defect in the current file, or false if the file does not contain the
// defect.
func (d Defect) locate(dir string) (verdict.Finding, bool, error) {
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(d.Path)))
	if errors.Is(err, fs.ErrNotExist) {
		return verdict.Finding{}, false, nil
	}
	if err != nil {
		return verdict.Finding{}, false, fmt.Errorf("look for a defect: %w", err)
	}
	before, _, found := strings.Cut(string(content), d.Contains)
	if !found {
		return verdict.Finding{}, false, nil
	}
	finding := d.Finding
	finding.Path = d.Path
	first := 1 + strings.Count(before, "\n")
	finding.Line = first + strings.Count(strings.TrimSuffix(d.Contains, "\n"), "\n")
	if finding.Line > first {
		finding.StartLine = first
	}
	finding.Quote, finding.Suggestion = cmp.Or(finding.Quote, d.Contains), cmp.Or(finding.Suggestion, d.Fix)
	return finding, true, nil
}

// nextFault counts this turn and returns its fault. Several processes may call it at once.
func (s *Script) nextFault(role string) (string, error) {
	list := s.Faults[role]
	if len(list) == 0 {
		return "", nil
	}
	lock := flock.New(s.path + ".lock")
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("lock the count of sessions: %w", err)
	}
	defer lock.Close()

	runs := map[string]int{}
	file := s.path + ".runs"
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &runs)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the count of sessions: %w", err)
	}
	played := runs[role]
	runs[role]++
	if data, err = json.Marshal(runs); err != nil {
		return "", fmt.Errorf("count this session: %w", err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", fmt.Errorf("count this session: %w", err)
	}
	if played >= len(list) {
		return "", nil
	}
	return checkFault(role, list[played])
}

func checkFault(role, fault string) (string, error) {
	if rest, slow := strings.CutPrefix(fault, "slow:"); slow {
		if _, err := time.ParseDuration(rest); err != nil {
			return "", fmt.Errorf("fault %q: %w", fault, err)
		}
		return fault, nil
	}
	if slices.Contains(faults[role], fault) {
		return fault, nil
	}
	return "", fmt.Errorf("unknown fault %q for a %s", fault, role)
}
