package gateway

import "time"

func init() {
	pingAfter, pingTimeout = 100*time.Millisecond, 3*time.Second
	aliveEvery = 10 * time.Millisecond
}
