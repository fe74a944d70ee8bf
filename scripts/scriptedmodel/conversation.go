package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// recall returns the id of the session and all its prompts, the new prompt last. Like claude it keeps its
// conversations in its configuration directory, where a later process finds them by --resume; without that
// directory it keeps none.
func recall(resume, prompt string) (id, all string, err error) {
	dir := os.Getenv("CLAUDE_CONFIG_DIR")
	id = resume
	if id == "" {
		id = uuid.NewString() // the format of claude's session ids
	} else {
		earlier, err := os.ReadFile(conversationFile(dir, id))
		if dir == "" || errors.Is(err, os.ErrNotExist) {
			return "", "", fmt.Errorf("no conversation found with session ID: %s", id)
		}
		if err != nil {
			return "", "", fmt.Errorf("read the conversation: %w", err)
		}
		prompt = string(earlier) + "\n" + prompt
	}
	if dir == "" {
		return id, prompt, nil
	}
	if err := os.WriteFile(conversationFile(dir, id), []byte(prompt), 0o600); err != nil {
		return "", "", fmt.Errorf("keep the conversation: %w", err)
	}
	return id, prompt, nil
}

func conversationFile(dir, id string) string {
	return filepath.Join(dir, "scripted-"+filepath.Base(id)+".txt")
}
