package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
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

// Charge tells the process that has the journal in dir open, now or later today, what was done
// by hand beside it and what that took, in US dollars. The charges of earlier days go.
func Charge(dir string, usd float64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write down what this took, so that it counts into the day's budget: %w; make %s writable", err, filepath.Dir(dir))
		}
	}()
	at := now()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if last, err := os.Stat(byHand(dir)); err == nil && last.ModTime().Local().Format(time.DateOnly) < at.Local().Format(time.DateOnly) {
		if err := os.Remove(byHand(dir)); err != nil {
			return err
		}
	}
	line, err := json.Marshal(charge{at, usd})
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
	text, err := os.ReadFile(byHand(j.dir))
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var c charge
		if json.Unmarshal(lines.Bytes(), &c) == nil && !c.At.Before(since) {
			usd += c.USD
		}
	}
	return usd
}
