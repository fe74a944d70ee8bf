package claude

import "os"

// handOver returns the variable by which the CLI gets its login. Child processes on Windows do not inherit
// file descriptors, so the session's commands can see the variable.
func (l login) handOver() ([]string, []*os.File, error) {
	if l.secret == "" {
		return nil, nil, nil
	}
	return []string{l.variable + "=" + l.secret}, nil, nil
}
