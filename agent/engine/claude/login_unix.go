//go:build unix

package claude

import (
	"fmt"
	"os"
)

// descriptor is the CLI's variable for "read the login from this file descriptor".
const descriptor = "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"

// handOver returns the variables and files by which the CLI gets its login. A subscription's login goes
// through a pipe that the CLI reads when it starts: every command of the session could read it in the
// environment, while the pipe is empty before the first command runs. Any other login is a gateway's token,
// which is no secret.
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
	// A pipe holds at least 4 KiB; a secret has about a hundred bytes.
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
