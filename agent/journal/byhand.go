package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// charge is the cost of one manual action.
type charge struct {
	At  time.Time `json:"at"`
	USD float64   `json:"usd"`
}

// byHand is the file next to a journal that records manual actions in the journal's role. Commands append to
// it, any number at a time, since they cannot open the journal.
func byHand(dir string) string { return dir + "-by-hand.jsonl" }

// Charge records a manual action in the journal's role, with its time and its cost in US dollars. The process
// that has the journal in dir open, now or later that day, reads it. Charge deletes the charges of other
// days.
func Charge(dir string, at time.Time, usd float64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("record what this cost, so that it counts towards the day's budget: %w; make %s writable", err, filepath.Dir(dir))
		}
	}()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	before, err := charges(dir)
	if err == nil && len(before) > 0 && day(before[0].At) != day(at) {
		err = os.Remove(byHand(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line, err := json.Marshal(charge{at.UTC().Round(0), usd})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(byHand(dir), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// Charged is the cost of manual actions since a moment of today, in US dollars. A line that cannot be read,
// since a crash cut it off, counts nothing.
func (j *Journal) Charged(since time.Time) (usd float64) {
	all, _ := charges(j.dir)
	for _, c := range all {
		if !c.At.Before(since) {
			usd += c.USD
		}
	}
	return usd
}

// charges returns the charges that can be read.
func charges(dir string) (all []charge, err error) {
	text, err := os.ReadFile(byHand(dir))
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var c charge
		if json.Unmarshal(lines.Bytes(), &c) == nil {
			all = append(all, c)
		}
	}
	return all, err
}

// day returns the local date of a moment.
func day(at time.Time) string { return at.Local().Format(time.DateOnly) }
