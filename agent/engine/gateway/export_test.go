package gateway

import "time"

func init() { pingAfter, pingTimeout = 100*time.Millisecond, time.Second }
