package process

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// What is begun between two looks counts in the next ones, also where the first looked at all others.
func TestLooksSeeLaterDescendants(t *testing.T) {
	looks := looks{root: os.Getpid()}
	memory, before := looks.used()
	for range wholeLook + 1 {
		cmd := exec.Command("sh", "-c", "sleep 600 & echo; wait")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadByte(); err != nil {
			t.Fatal(err)
		}
		looks.used()
		more, now := looks.used()
		if now != before+2 || more <= memory {
			t.Errorf("a shell and its command more are %d processes in place of %d, and %d bytes in place of %d", now, before, more, memory)
		}
		for _, pid := range append(childrenOf(cmd.Process.Pid), cmd.Process.Pid) {
			send(pid, 9)
		}
		_ = cmd.Wait()
	}
}

// BenchmarkLooks takes ten looks, of which one is at all processes.
func BenchmarkLooks(b *testing.B) {
	for _, whole := range []bool{true, false} {
		b.Run(map[bool]string{true: "whole", false: "kept"}[whole], func(b *testing.B) {
			looks := looks{root: os.Getpid()}
			for b.Loop() {
				for range wholeLook {
					if whole {
						looks.made = 0
					}
					looks.used()
				}
			}
		})
	}
}
