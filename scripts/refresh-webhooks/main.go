// Command refresh-webhooks fetches GitHub's published example payloads, the npm package
// @octokit/webhooks-examples, and packs them for the relay's tests:
//
//	go run ./scripts/refresh-webhooks [version]
//
// It needs npm, and runs no code of the package. Its output goes into the file beside the payloads, so that
// the difference under version control shows what changed.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"touchstone/scripts/npm"
)

const target = "relay/internal/examples"

func main() {
	version := "7.6.1"
	if len(os.Args) > 1 {
		version = os.Args[1]
	}
	if err := refresh(version); err != nil {
		fmt.Fprintf(os.Stderr, "refresh-webhooks: %v\n", err)
		os.Exit(1)
	}
}

func refresh(version string) error {
	const examples = "package/api.github.com/index.json"
	from, err := npm.Pack("@octokit/webhooks-examples@"+version, examples)
	if err != nil {
		return err
	}
	var events []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(from.Files[examples], &events); err != nil {
		return fmt.Errorf("read the examples: %w", err)
	}
	var text bytes.Buffer
	lines, count := json.NewEncoder(&text), 0
	for _, event := range events {
		for _, payload := range event.Examples {
			// The payload is a string here: its exact bytes, indentation included, matter.
			if err := lines.Encode(map[string]string{"event": event.Name, "payload": string(payload)}); err != nil {
				return err
			}
			count++
		}
	}
	note := fmt.Sprintf("%d example payloads from npm %s %s, licence %s (https://github.com/octokit/webhooks)\nsha256 of the "+
		"package: %s\nmade by: go run ./scripts/refresh-webhooks\n",
		count, from.Name, from.Version, from.License, from.SHA256)
	fmt.Print(note)
	if err := os.WriteFile(filepath.Join(target, "webhooks.jsonl.gz"), npm.Gzip(text.Bytes()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(target, "webhooks.txt"), []byte(note), 0o644)
}
