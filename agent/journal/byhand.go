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

// charge is what one act by hand took.
type charge struct {
	At  time.Time `json:"at"`
	USD float64   `json:"usd"`
}

// byHand is the file beside a journal with what was done by hand in its role. Any number of
// commands append to it, which cannot have the journal open.
func byHand(dir string) string { return dir + "-by-hand.jsonl" }

// Charge tells the process that has the journal in dir open, now or later that day, what was done
// by hand beside it at a moment and what that took, in US dollars. The charges of other days go.
func Charge(dir string, at time.Time, usd float64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write down what this took, so that it counts into the day's budget: %w; make %s writable", err, filepath.Dir(dir))
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
	if _, err := file.Write(append(line, '\n')); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// Charged is what acts by hand took since a moment of today, in US dollars, as far as that can
// be read: a line that a crash tore counts nothing.
func (j *Journal) Charged(since time.Time) (usd float64) {
	all, _ := charges(j.dir)
	for _, c := range all {
		if !c.At.Before(since) {
			usd += c.USD
		}
	}
	return usd
}

// charges are those that can be read.
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

// day is the one that a moment belongs to, where this machine is.
func day(at time.Time) string { return at.Local().Format(time.DateOnly) }
