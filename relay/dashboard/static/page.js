// What the page does beyond being read: it refreshes itself when the log moves, keeps lengths of
// time up to date, and takes keys. Everything on it works without this.
"use strict";
(() => {
  const script = document.currentScript;
  const button = document.getElementById("live");
  const main = () => document.getElementById("main");
  let paused = sessionStorage.getItem("paused") === "yes";
  let open = false;
  let connected = false; // once, since the page was opened
  let shown = document.body.dataset.asOf; // the place in the log that the page shows
  let newest = shown; // the newest change that it was told of
  let failing = false; // its last request was not answered with a page
  let again; // the timer of the next request after that
  let ahead = 0; // how many milliseconds this machine's clock is ahead of the relay's, once that is known

  function show() {
    const live = open && !failing;
    button.hidden = false;
    button.setAttribute("aria-pressed", String(paused));
    button.classList.toggle("on", live && !paused);
    button.classList.toggle("off", connected && !live && !paused);
    const held = newest === shown ? "paused" : "paused, and there is news";
    button.querySelector(".text").textContent = paused ? held : live ? "live" : connected ? "not connected" : "connecting";
  }

  // A page asks for what it shows again as of a change. The relay writes that once for all pages
  // that were told of the change and show the same.
  function refresh() {
    if (!paused && !document.hidden) htmx.trigger(main(), "refresh");
  }
  function catchUp() {
    if (newest !== shown) refresh();
  }
  document.addEventListener("htmx:config:request", (e) => {
    e.detail.ctx.asOf = newest;
    e.detail.ctx.request.headers["Touchstone-As-Of"] = newest;
  });
  document.addEventListener("htmx:after:swap", (e) => {
    shown = e.detail.ctx.asOf;
    show();
    catchUp();
  });
  // An answer that says that the relay cannot answer now, or that something before the relay gave, must not
  // take the place of what the page shows.
  document.addEventListener("htmx:after:request", (e) => {
    const { response, text } = e.detail.ctx;
    if (response.status >= 500 || !text.includes('<main id="main"')) e.preventDefault();
  });
  document.addEventListener("htmx:finally:request", (e) => {
    failing = e.detail.ctx.status !== "swapped";
    show();
    clearTimeout(again);
    if (failing) again = setTimeout(catchUp, 5000 * (0.7 + Math.random() * 0.6));
  });

  // A place such as q7m2x4ka-1042 is an event of a log. A relay may have come to have another log.
  function newer(place, than) {
    const [log, n] = place.split("-");
    const [otherLog, m] = than.split("-");
    return log !== otherLog || Number(n) > Number(m);
  }

  function pause() {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "yes" : "no");
    show();
    if (!paused) catchUp();
  }

  function heard(message) {
    if ("ahead" in message) ahead = message.ahead;
    if ("open" in message) {
      open = message.open;
      connected ||= open;
      show();
    }
    if (message.changed && newer(message.changed, newest)) {
      newest = message.changed;
      show();
      refresh();
    }
  }

  if (main().hasAttribute("data-live")) {
    if ("SharedWorker" in window) {
      const worker = new SharedWorker(script.dataset.worker);
      worker.port.onmessage = (e) => heard(e.data);
      addEventListener("pagehide", () => worker.port.postMessage("leaving"));
    } else {
      new Worker(script.dataset.worker).onmessage = (e) => heard(e.data);
    }
    button.addEventListener("click", pause);
    show();
  }
  addEventListener("pageshow", (e) => e.persisted && location.reload());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) catchUp();
  });

  function span(seconds) {
    const s = Math.max(0, seconds);
    if (s < 60) return Math.floor(s) + " s";
    if (s < 3600) return Math.floor(s / 60) + " min";
    if (s < 48 * 3600) return Math.floor(s / 3600) + " h";
    return Math.floor(s / 86400) + " d";
  }
  setInterval(() => {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const text = span((Date.now() - ahead - Date.parse(time.dateTime)) / 1000);
      if (time.textContent !== text) time.textContent = text;
    }
    if (!document.hidden && !paused && document.querySelector("[data-poll]") && Date.now() % 10000 < 1000) refresh();
  }, 1000);

  // Where browsers can copy, the buttons for it show.
  function offerCopies() {
    for (const copy of document.querySelectorAll("[data-copy]")) {
      copy.hidden = !navigator.clipboard;
    }
  }
  offerCopies();
  document.addEventListener("htmx:after:swap", offerCopies);
  document.addEventListener("click", async (e) => {
    const copy = e.target.closest("[data-copy]");
    if (!copy) return;
    await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent);
    copy.textContent = "Copied";
  });

  // Rows of a list by the keyboard, as in mail programs.
  function move(by) {
    const rows = [...document.querySelectorAll("tbody tr:has(a.title)")];
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    for (const other of rows) other.classList.toggle("at", other === row);
    row.querySelector("a.title").focus();
    row.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
    switch (e.key) {
      case "j": move(1); break;
      case "k": move(-1); break;
      case "p": if (!button.hidden) pause(); break;
      case "/": {
        const field = document.querySelector(".filter input:not([type=hidden])");
        if (!field) return;
        field.focus();
        e.preventDefault();
      }
    }
  });
})();
