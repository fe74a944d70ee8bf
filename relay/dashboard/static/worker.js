// One connection to the relay's notices of changes for all of a browser's pages: browsers open six
// connections to one server and no more. It tells the pages of the newest change.
"use strict";
const ports = new Set();
let open = false;
let last = ""; // the newest change

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function state(now) {
  if (now !== open) tell({ open: (open = now) });
}

async function follow() {
  const answer = await fetch("/changes", { cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status));
  state(true);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    const ids = lines.filter((line) => line.startsWith("id: "));
    if (ids.length) tell({ changed: (last = ids.at(-1).slice(4)) });
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
    port.postMessage(last ? { open, changed: last } : { open });
  };
} else {
  ports.add(self); // a worker of one page, where browsers share none
}
run();
