// Command break attacks the built programs on loopback, as a stranger, a colleague or a
// model's session would, and counts what succeeds. Each attack is an entry of a table, in a
// file for its topic. Run it with: make break
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"touchstone/scripts/command"
	"touchstone/worktree/steps"
)

// attack is one attempt. It returns what it achieved, or "" for nothing. A step that fails means that the attack
// could not be made, which counts as a success of the attack.
type attack struct {
	name string
	try  func(ctx context.Context, bin string) string
}

// make makes the attack on the programs in a folder.
func (a attack) make(ctx context.Context, bin string) (achieved string) {
	ctx, cancel := context.WithTimeout(ctx, attackTimeout)
	defer cancel()
	return a.try(ctx, bin)
}

// errSkipped says that this machine lacks what an attack needs.
var errSkipped = errors.New("this machine has not what it takes")

// attackTimeout bounds one attack.
const attackTimeout = 2 * time.Minute

func main() {
	if len(os.Args) > 1 && os.Args[1] == payloadWord {
		payload(os.Args[2:])
		return
	}
	bin := flag.String("bin", "bin", "the folder with the built programs")
	only := flag.String("only", "", "make only the attacks whose names contain this")
	seeded := flag.Bool("seeded", false, "make the attacks on programs built with a weakness, from the repository's top folder, and count "+
		"what is seen")
	flag.Parse()
	attacks := slices.Concat(relayAttacks, browserAttacks, logAttacks, diskAttacks, encryptedAttacks, guardAttacks, agentAttacks)
	attacks = slices.DeleteFunc(attacks, func(a attack) bool { return !strings.Contains(a.name, *only) })
	command.Run("break", func(ctx context.Context) (bool, error) {
		if *seeded {
			return trySeeds(ctx, attacks) == 0, nil
		}
		return tryAll(ctx, *bin, attacks) == 0, nil
	})
}

// tryAll makes the attacks on the programs in a folder, and returns how many succeeded.
func tryAll(ctx context.Context, bin string, attacks []attack) (succeeded int) {
	skipped := 0
	for _, a := range attacks {
		achieved := ""
		err := steps.Try(func() { achieved = a.make(ctx, bin) })
		switch {
		case errors.Is(err, errSkipped):
			skipped++
			fmt.Printf("%-50s SKIPPED: %v\n", a.name, err)
		case err != nil:
			succeeded++
			fmt.Printf("%-50s could not be tried: %v\n", a.name, err)
		case achieved != "":
			succeeded++
			fmt.Printf("%-50s SUCCEEDED: %s\n", a.name, achieved)
		default:
			fmt.Printf("%-50s failed\n", a.name)
		}
	}
	if skipped > 0 {
		fmt.Printf("break: %d attacks could not be made on this machine\n", skipped)
	}
	fmt.Printf("break: %d attacks, %d succeeded\n", len(attacks)-skipped, succeeded)
	return succeeded
}
