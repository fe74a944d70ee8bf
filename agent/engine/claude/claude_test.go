package claude_test

import "os"

func path() string { return "PATH=" + os.Getenv("PATH") }
