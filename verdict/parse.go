package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// splitMarker takes the two closing lines off an answer. A marker counts only
// as the last non-blank line, directly below this run's nonce: text that the
// session read and repeats can hold a marker, but not the nonce at the end.
func splitMarker(text, nonce string) (body string, marked Verdict, doubt string) {
	_, last := cutLastLine(text)
	switch last {
	case Marker(Approve):
		marked = Approve
	case Marker(RequestChanges):
		marked = RequestChanges
	default:
		return text, "", "The session's answer does not end in a verdict marker."
	}
	if body, last = ending(text, nonce, last); last == "" {
		return text, "", "The verdict marker does not stand below this run's own nonce."
	}
	return body, marked, ""
}

// ending takes the two closing lines off a text: one of the markers, directly below the run's
// nonce. Marker is empty where they are not there.
func ending(text, nonce string, markers ...string) (body, marker string) {
	rest, last := cutLastLine(text)
	rest, above := cutLastLine(rest)
	if nonce == "" || above != RunLine(nonce) || !slices.Contains(markers, last) {
		return text, ""
	}
	return rest, last
}

// parseAnswer reads the answer in the fenced block that ends the body, and returns the prose
// before it.
func parseAnswer(body string) (a Answer, prose string, err error) {
	if prose, err = readBlock(body, &a); err != nil {
		return Answer{}, "", err
	}
	if a.Findings == nil {
		return Answer{}, "", errors.New("it lists no findings, not even an empty list")
	}
	return a, prose, nil
}

// readBlock reads the JSON of the fenced block that ends the body into a value, and returns the
// prose before it. Only a block at the very end counts: one further up may be quoted from what
// the session read.
func readBlock(body string, into any) (prose string, err error) {
	rest, last := cutLastLine(body)
	// A marker that does not count may still stand below the block.
	for strings.HasPrefix(last, "<!--") {
		rest, last = cutLastLine(rest)
	}
	if last != "```" {
		return "", fmt.Errorf("the answer does not end in a %q block", Fence)
	}
	const open = "```" + Fence + "\n"
	start := strings.LastIndex(rest, open)
	if start < 0 || (start > 0 && rest[start-1] != '\n') {
		return "", fmt.Errorf("the answer has no %q block", Fence)
	}
	data := rest[start+len(open):]
	// Unmarshal also bounds the depth of what uniqueKeys then walks.
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return "", fmt.Errorf("the %q block is not the JSON asked for: %w", Fence, err)
	}
	if err := uniqueKeys(json.NewDecoder(strings.NewReader(data))); err != nil {
		return "", fmt.Errorf("the %q block is ambiguous: %w", Fence, err)
	}
	return rest[:start], nil
}

// uniqueKeys refuses a value in which an object names a key twice. To
// encoding/json the last one counts, so that a second, empty "findings" would
// unsay the first.
func uniqueKeys(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			// As encoding/json matches keys: by simple folding, in which also ſ and
			// the Kelvin sign are letters of ASCII.
			name := strings.ToLower(strings.ToUpper(fmt.Sprint(key)))
			if seen[name] {
				return fmt.Errorf("the key %q stands there twice", name)
			}
			seen[name] = true
			if err := uniqueKeys(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	case json.Delim('['):
		for d.More() {
			if err := uniqueKeys(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// cutLastLine splits off the last line that is not blank, without its
// surrounding white space.
func cutLastLine(text string) (rest, line string) {
	text = strings.TrimRight(text, " \t\r\n")
	i := strings.LastIndexByte(text, '\n')
	return text[:i+1], strings.TrimSpace(text[i+1:])
}
