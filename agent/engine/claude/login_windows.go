package claude

import "os"

// handOver gives the variable by which the CLI gets its login. Windows hands
// down no descriptors, so the session's commands can see it.
func (l login) handOver() ([]string, []*os.File, error) {
	if l.secret == "" {
		return nil, nil, nil
	}
	return []string{l.variable + "=" + l.secret}, nil, nil
}

func closeAll([]*os.File) {}
