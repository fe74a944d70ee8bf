// One connection to the relay's event stream for all of a browser's pages: browsers open six
// connections to one server and no more. It only tells the pages that the log has moved.
"use strict";
const ports = new Set();
let open = false;
let last = "";

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function state(now) {
  if (now !== open) tell({ open: (open = now) });
}

async function follow() {
  const headers = last ? { "Last-Event-ID": last } : {};
  const answer = await fetch("/events", { headers, cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status));
  state(true);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop().slice(0, 100); // of a long line nothing but its beginning matters
    let events = false;
    for (const line of lines) {
      if (line.startsWith("id: ")) last = line.slice(4);
      if (line.startsWith("event: ")) events = true;
    }
    if (events) tell({ moved: true });
  }
}

async function run() {
  for (let failures = 0; ; failures++) {
    try {
      await follow();
      failures = 0;
    } catch {
      // The relay is away, or the session has ended: the pages show that nothing is live.
    }
    state(false);
    await new Promise((done) => setTimeout(done, Math.min(30, 1 + failures * 2) * 1000 * (0.7 + Math.random() * 0.6)));
  }
}

if ("onconnect" in self) {
  self.onconnect = (e) => {
    const port = e.ports[0];
    ports.add(port);
    port.onmessage = () => ports.delete(port); // a page says that it leaves
    port.postMessage({ open });
  };
} else {
  ports.add(self); // a worker of one page, where browsers share none
}
run();
