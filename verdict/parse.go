package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// splitMarker removes the two closing lines of an answer. A marker counts only as the last non-blank line,
// directly below this run's nonce: text that the session read and repeats can hold a marker, but not this
// nonce.
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
		return text, "", "The verdict marker is not below this run's own nonce."
	}
	return body, marked, ""
}

// ending removes the two closing lines of a text: this run's nonce and, directly below, one of the markers.
// Result marker is empty if they are missing.
func ending(text, nonce string, markers ...string) (body, marker string) {
	rest, last := cutLastLine(text)
	rest, above := cutLastLine(rest)
	if nonce == "" || above != RunLine(nonce) || !slices.Contains(markers, last) {
		return text, ""
	}
	return rest, last
}

// parseAnswer reads the answer from the fenced block at the end of the body. It also returns the prose before
// the block.
func parseAnswer(body string) (a Answer, prose string, err error) {
	if prose, err = readBlock(body, &a); err != nil {
		return Answer{}, "", err
	}
	if a.Findings == nil {
		return Answer{}, "", errors.New("it lists no findings, not even an empty list")
	}
	return a, prose, nil
}

// readBlock decodes the JSON of the fenced block at the end of the body into a value, and returns the prose
// before the block. Only a block at the very end counts: an earlier one may be quoted from what the session
// read.
func readBlock(body string, into any) (prose string, err error) {
	rest, last := cutLastLine(body)
	// An invalid marker may still stand below the block.
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
	data := escaped(rest[start+len(open):])
	// Unmarshal also bounds the depth that uniqueKeys then walks.
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return "", fmt.Errorf("the %q block is not the JSON asked for: %w", Fence, err)
	}
	if err := uniqueKeys(json.NewDecoder(strings.NewReader(data))); err != nil {
		return "", fmt.Errorf("the %q block is ambiguous: %w", Fence, err)
	}
	return rest[:start], nil
}

// escaped writes tabs and line ends within the strings of JSON by their escapes. Sessions that copy code into a quote
// tend to copy them as they are.
func escaped(data string) string {
	quoted, literal := false, false
	var out strings.Builder
	for _, r := range data {
		if quoted && (r == '\t' || r == '\n' || r == '\r') {
			out.WriteString(map[rune]string{'\t': `\t`, '\n': `\n`, '\r': `\r`}[r])
			continue
		}
		quoted = quoted != (r == '"' && !literal)
		literal = r == '\\' && !literal
		out.WriteRune(r)
	}
	return out.String()
}

// beforeData is the prose of a body whose data cannot be read. The data itself is no prose: a single line of it can
// have everything by which a text names a defect.
func beforeData(body string) string {
	prose := body
	if i := strings.LastIndex(body, "```"+Fence+"\n"); i >= 0 {
		prose = body[:i]
	}
	prose, _, _ = strings.Cut("\n"+prose, "\n{")
	return prose
}

// uniqueKeys rejects JSON in which an object has a key twice. In encoding/json the last one wins, so a
// second, empty "findings" would delete the first.
func uniqueKeys(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			// Keys match as in encoding/json: by simple case folding, where also ſ and the Kelvin sign equal
			// ASCII letters.
			name := strings.ToLower(strings.ToUpper(fmt.Sprint(key)))
			if seen[name] {
				return fmt.Errorf("the key %q appears twice", name)
			}
			seen[name] = true
		}
		if err := uniqueKeys(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// cutLastLine splits off the last line that is not blank, without its
// surrounding white space.
func cutLastLine(text string) (rest, line string) {
	text = strings.TrimRight(text, " \t\r\n")
	i := strings.LastIndexByte(text, '\n')
	return text[:i+1], strings.TrimSpace(text[i+1:])
}
