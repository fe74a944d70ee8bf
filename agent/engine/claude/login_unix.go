//go:build unix

package claude

import (
	"fmt"
	"os"
)

// descriptor is the CLI's name for "read the login from this descriptor".
const descriptor = "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"

// handOver gives the variables and the files by which the CLI gets its login.
// A subscription's goes through a pipe that the CLI reads at its start. In the
// environment every command of the session would see it; so the pipe is empty
// by the time there is one. All others are a gateway's token, which anyone may see.
func (l login) handOver() ([]string, []*os.File, error) {
	if l.secret == "" {
		return nil, nil, nil
	}
	if l.variable != subscriptionVariable {
		return []string{l.variable + "=" + l.secret}, nil, nil
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("hand over the login: %w", err)
	}
	// A pipe holds 4 KiB at the least, a secret is about a hundred bytes.
	if len(l.secret) > 4096 {
		closeAll([]*os.File{reader, writer})
		return nil, nil, fmt.Errorf("hand over the login: %s is longer than any login", l.variable)
	}
	_, err = writer.WriteString(l.secret)
	if closing := writer.Close(); err == nil {
		err = closing
	}
	if err != nil {
		closeAll([]*os.File{reader})
		return nil, nil, fmt.Errorf("hand over the login: %w", err)
	}
	return []string{descriptor + "=3"}, []*os.File{reader}, nil
}

// closeAll ignores errors: pipes have nothing to flush.
func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}
