// Package chromium lets tests look at a relay's pages like people: in tabs of Chromium, driven over the
// protocol of its developer tools. It stores nothing, and no program imports it.
package chromium

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// patience is far longer than any test takes.
const patience = 5 * time.Minute

// Missing skips a test because a program or a file is missing, or fails it if the environment variable CI is
// "true".
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("SKIPPED: %s is missing", what)
}

// started starts the one Chromium of a package's tests when the first test needs it. Each test has a tab with
// its own cookies.
var started = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 900),
		chromedp.WSURLReadTimeout(patience))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	stop = end
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Run(ctx)
})

var stop = func() {}

// Stop ends the Chromium of the tests, if one of them started it. A package's TestMain calls it at the end.
func Stop() { stop() }

// Tab is a tab and the problems on its pages. Any failure of its methods fails the test.
type Tab struct {
	t       testing.TB
	ctx     context.Context
	relay   string
	profile cdp.BrowserContextID

	mu       sync.Mutex
	problems []string
}

// Open opens a tab without cookies for the pages of the relay at an address. It skips the test if there is no
// Chromium.
func Open(t testing.TB, relay string) *Tab {
	t.Helper()
	ctx, err := started()
	if errors.Is(err, exec.ErrNotFound) {
		Missing(t, "Chromium (as on Debian: apt install chromium)")
	}
	if err != nil {
		t.Fatal(err)
	}
	profile, err := target.CreateBrowserContext().Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, ctx, relay, profile)
}

// Another opens another tab with the same cookies.
func (b *Tab) Another() *Tab {
	b.t.Helper()
	ctx, err := started()
	if err != nil {
		b.t.Fatal(err)
	}
	return open(b.t, ctx, b.relay, b.profile)
}

func open(t testing.TB, ctx context.Context, relay string, profile cdp.BrowserContextID) *Tab {
	t.Helper()
	ctx, expire := context.WithTimeout(ctx, patience)
	t.Cleanup(expire)
	// Chromium always opens the first tab of a profile in a window of its own. The other tabs get one too,
	// because a tab with its own window is never hidden.
	tab, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).WithWidth(1280).WithHeight(900).
		Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(ctx, chromedp.WithTargetID(tab))
	t.Cleanup(closeTab)
	b := &Tab{t: t, ctx: ctx, relay: relay, profile: profile}
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *page.EventJavascriptDialogOpening:
			b.problem("a dialog opened: " + e.Message)
		case *runtime.EventExceptionThrown:
			b.problem("an exception: " + e.ExceptionDetails.Error())
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, relay) && !strings.HasPrefix(e.Request.URL, "data:") {
				b.problem("a request to elsewhere: " + e.Request.URL)
			}
		}
	})
	// Without focus emulation, tabs that are not in front would receive no keys.
	b.Run(network.Enable(), page.Enable(), runtime.Enable(), emulation.SetFocusEmulationEnabled(true))
	return b
}

// Go goes to a page of the relay.
func (b *Tab) Go(path string) chromedp.Action { return chromedp.Navigate(b.relay + path) }

// Visible waits until an element is visible.
func Visible(selector string) chromedp.Action {
	return chromedp.WaitVisible(selector, chromedp.ByQuery)
}

// Holds waits until a JavaScript expression about the page is true: it is evaluated at each change of the
// document.
func Holds(expression string) chromedp.Action {
	return chromedp.Poll(expression, nil, chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(0))
}

// SignIn goes to a page that asks for a token, enters the token, and waits for the page.
func (b *Tab) SignIn(path, token string) {
	b.t.Helper()
	b.Run(b.Go(path), Visible("#token"), chromedp.SendKeys("#token", token, chromedp.ByQuery),
		chromedp.Click("main button", chromedp.ByQuery), Visible("form[action='/sign-out']"))
}

// Run runs the actions one after the other.
func (b *Tab) Run(actions ...chromedp.Action) {
	b.t.Helper()
	for _, action := range actions {
		if err := b.Try(action); err != nil {
			b.t.Fatal(err)
		}
	}
}

// Try runs an action. It retries if the action's node went away first, because a page is live and a click leads
// to another page: the retry finds the node on the current page.
func (b *Tab) Try(action chromedp.Action) error {
	err := chromedp.Run(b.ctx, action)
	for wasReplaced(err) {
		err = chromedp.Run(b.ctx, action)
	}
	return err
}

// wasReplaced reports whether an error is Chromium's answer about a node or a document that no longer exists:
// https://github.com/chromium/chromium/blob/main/third_party/blink/renderer/core/inspector/inspector_dom_agent.cc
func wasReplaced(err error) bool {
	answer, ok := errors.AsType[*cdproto.Error](err)
	return ok && answer.Code == -32000 && slices.ContainsFunc([]string{"node", "execution context", "navigated"}, func(word string) bool {
		return strings.Contains(strings.ToLower(answer.Message), word)
	})
}

func (b *Tab) problem(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, text)
}

// Clean reports the problems since the last call: dialogs, exceptions, and requests to other addresses.
func (b *Tab) Clean(where string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("%s: %s", where, p)
	}
	b.problems = nil
}
