// One connection to the relay's notices of changes for all of a browser's pages: browsers open six
// connections to one server and no more. It tells the pages of the newest change.
"use strict";
const ports = new Set();
// The relay sends something every 15 seconds. A connection on which nothing comes for so many milliseconds is
// dead, though nobody has ended it: a laptop has slept, or something on the way has forgotten it.
const silence = 40000;
let open = false;
let last = ""; // the newest change
let ahead = 0; // how many milliseconds this machine's clock is ahead of the relay's
let failures = 0; // in a row

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function state(now) {
  if (now !== open) tell({ open: (open = now) });
}

async function follow() {
  const dead = new AbortController();
  let alarm;
  const wait = () => {
    clearTimeout(alarm);
    alarm = setTimeout(() => dead.abort(), silence);
  };
  wait();
  try {
    const answer = await fetch("/changes", { cache: "no-store", signal: dead.signal });
    if (!answer.ok) throw new Error(String(answer.status));
    const date = Date.parse(answer.headers.get("date"));
    if (date) tell({ ahead: (ahead = Date.now() - date) });
    state(true);
    failures = 0;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      wait();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      const ids = lines.filter((line) => line.startsWith("id: "));
      if (ids.length) tell({ changed: (last = ids.at(-1).slice(4)) });
    }
  } finally {
    clearTimeout(alarm);
  }
}

async function run() {
  for (;; failures++) {
    try {
      await follow();
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
    port.postMessage(last ? { open, ahead, changed: last } : { open, ahead });
  };
} else {
  ports.add(self); // a worker of one page, where browsers share none
}
run();
