package process

import "time"

func init() { lingering = time.Second }
