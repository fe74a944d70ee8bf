//go:build unix

package claude

import (
	"errors"
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
	switch {
	case l.secret == "":
		return nil, nil, nil
	case l.variable != subscriptionVariable:
		return []string{l.variable + "=" + l.secret}, nil, nil
	case len(l.secret) > 4096: // a pipe holds at least 4 KiB; a secret has about a hundred bytes
		return nil, nil, fmt.Errorf("hand over the login: %s is longer than any login", l.variable)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("hand over the login: %w", err)
	}
	_, err = writer.WriteString(l.secret)
	if err = errors.Join(err, writer.Close()); err != nil {
		_ = reader.Close() // it has nothing to flush
		return nil, nil, fmt.Errorf("hand over the login: %w", err)
	}
	return []string{descriptor + "=3"}, []*os.File{reader}, nil
}
