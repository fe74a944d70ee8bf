// Command screenshots takes the README's pictures of the relay's page: it runs the demo, opens each page in a
// headless Chromium from the PATH, and waits until the page is live and its plots are drawn. Run it with:
// make screenshots
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"

	"touchstone/scripts/command"
)

// shots are the pictures by file name, each of a page in a window of the given size.
var shots = []struct {
	name, path    string
	width, height int64
}{
	{"board", "/?state=all", 1200, 420},
	{"pull", "/pulls/acme/app/1", 1200, 760},
	{"events", "/log", 1200, 640},
	{"rules", "/rules", 1200, 640},
	{"trends", "/trends", 1200, 880},
	{"machines", "/machines", 1200, 420},
	{"health", "/health", 1200, 760},
}

// patience bounds how long the demo and all pictures may take together.
const patience = 10 * time.Minute

// ready is a script that checks whether a page shows everything.
const ready = `document.querySelector(".live.on") !== null && document.fonts.status === "loaded" &&
	[...document.querySelectorAll("#charts")].every(c => !c.hidden && c.querySelectorAll("figure canvas").length === 9)`

func main() {
	bin := flag.String("bin", "bin", "the folder with the programs of the demo")
	to := flag.String("to", filepath.Join("scripts", "screenshots"), "where the pictures go")
	flag.Parse()
	command.Run("screenshots", func(ctx context.Context) (bool, error) { return true, take(ctx, *bin, *to) })
}

func take(ctx context.Context, bin, to string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	work, err := os.MkdirTemp("", "touchstone.") // the name is shown on the health page
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	relay, end, err := demo(ctx, bin, filepath.Join(work, "demo"))
	if err != nil {
		return err
	}
	defer end()
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
		chromedp.NoSandbox, chromedp.WSURLReadTimeout(patience), chromedp.Flag("hide-scrollbars", true))...)
	defer stop()
	ctx, stop = chromedp.NewContext(ctx)
	defer stop()
	for _, shot := range shots {
		var picture []byte
		if err := chromedp.Run(ctx, chromedp.EmulateViewport(shot.width, shot.height), chromedp.Navigate(relay+shot.path),
			chromedp.Poll(ready, nil, chromedp.WithPollingTimeout(0)), chromedp.CaptureScreenshot(&picture)); err != nil {
			return fmt.Errorf("take the picture of %s: %w", shot.path, err)
		}
		if err := os.WriteFile(filepath.Join(to, shot.name+".png"), picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// demo runs the demo in a directory until its pull request is merged, and returns the address of the relay's
// page. Everything keeps running until end is called.
func demo(ctx context.Context, bin, dir string) (relay string, end func(), err error) {
	command := exec.CommandContext(ctx, filepath.Join(bin, "demo"), "--bin", bin, "--keep", "--dir", dir)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // the demo then ends what it has started
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, fmt.Errorf("run the demo, which make demo builds: %w", err)
	}
	var told strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&told, lines.Text())
		if address, found := strings.CutPrefix(lines.Text(), "  page  "); found {
			return strings.TrimSpace(address), func() {
				_ = command.Process.Signal(syscall.SIGTERM)
				_, _ = io.Copy(io.Discard, out) // the rest of its output
				_ = command.Wait()              // it was ended by the signal
			}, nil
		}
	}
	return "", nil, fmt.Errorf("the demo ended early: %w\n%s", command.Wait(), told.String())
}
