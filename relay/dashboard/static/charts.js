// The trends, and those of one rule, as plots, which follow the page when it is refreshed. A click on a point leads to the pull
// requests behind it.
"use strict";
(() => {
  const place = document.getElementById("charts");
  if (!place || !window.uPlot) return;
  let buckets, bucket, repo, x;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => () => style.getPropertyValue("--" + name).trim();
  const hours = (q, p) => (q ? q[p] / 3600 : null);
  // Each line has a name, a colour, its value in a bucket, and the moment of the pull requests that the value is made from.
  const trends = () => [
    { title: "Time to merge, hours", lines: [["p50", "good", (b) => hours(b.time_to_merge_seconds, "p50"), "merged"], ["p90", "ci", (b) => hours(b.time_to_merge_seconds, "p90"), "merged"]] },
    { title: "Time to first review, minutes", lines: [["p50", "good", (b) => b.time_to_first_review_seconds && b.time_to_first_review_seconds.p50 / 60, "answered"], ["p90", "ci", (b) => b.time_to_first_review_seconds && b.time_to_first_review_seconds.p90 / 60, "answered"]] },
    { title: "Merged, and of these without a person", lines: [["merged", "author", (b) => b.merged, "merged"], ["without a person", "good", (b) => b.merged_without_person, "unattended"]] },
    { title: "Rounds and findings", lines: [["rounds", "reviewer", (b) => b.rounds, "reviewed"], ["findings", "ci", (b) => b.findings, "found"]] },
    { title: "Cost of reviews, US dollars", lines: [["all", "author", (b) => b.cost_usd, "reviewed"]] },
    { title: "Tokens of reviews, millions", lines: [["all", "reviewer", (b) => b.tokens / 1e6, "reviewed"]] },
    { title: "Cost of a merge, US dollars", lines: [["mean", "good", (b) => (b.merged ? b.cost_usd_per_merge : null), "merged"]] },
    { title: "Rounds of a merge", lines: [["mean", "reviewer", (b) => (b.merged ? b.rounds_per_merge : null), "merged"]] },
    { title: "Escalations", lines: [["to a person", "person", (b) => b.escalations, "escalated"]] },
  ];
  const rule = () => [
    { title: "Fired, and what became of it", lines: [["fired", "author", (b) => b.fired], ["held", "good", (b) => b.held], ["wrong", "person", (b) => b.wrong]] },
    { title: "Precision so far, percent", lines: [["held of those known", "good", precision()]] },
  ];
  // Of all buckets until then, since one alone has too few findings.
  function precision() {
    let held = 0, known = 0;
    return (b) => {
      held += b.held;
      known += b.held + b.wrong;
      return known ? (100 * held) / known : null;
    };
  }
  const plots = place.dataset.plots === "rule" ? rule : trends;
  const values = (plot) => [x, ...plot.lines.map(([, , value]) => buckets.map(value))];
  const day = (date) => date.toISOString().slice(0, 10);
  const drawn = [];
  // Where nothing is pointed at, the legend tells of the newest bucket.
  function latest(chart) {
    if (chart.cursor.idx == null) chart.setLegend({ idx: x.length - 1 }, false);
  }
  // The moment of the line whose point in a bucket is nearest to the pointer.
  function nearest(chart, plot, i) {
    const away = (n) => (chart.data[n + 1][i] == null ? Infinity : Math.abs(chart.valToPos(chart.data[n + 1][i], "y") - chart.cursor.top));
    return plot.lines.map(([, , , moment], n) => [away(n), moment]).reduce((a, b) => (b[0] < a[0] ? b : a))[1];
  }
  function draw(plot, figure) {
    const width = () => figure.clientWidth - 22;
    const chart = new uPlot({
      width: width(),
      height: 170,
      tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "UTC"),
      legend: { live: true, markers: { stroke: (u, n) => "var(--" + plot.lines[n - 1][1] + ")" } },
      hooks: { ready: [latest], setData: [latest], setCursor: [latest] },
      axes: [
        { stroke: colour("soft"), grid: { show: false }, ticks: { stroke: colour("line") }, incrs: [1, 7, 30, 90, 365].map((days) => days * 86400), values: (u, ticks) => ticks.map((t) => new Date(t * 1000).toISOString().slice(5, 10)) },
        { stroke: colour("soft"), grid: { stroke: colour("line") }, ticks: { show: false }, size: 44 },
      ],
      // One point alone stands in the middle of two days.
      scales: { x: { range: (u, min, max) => (x.length === 1 ? [x[0] - 86400, x[0] + 86400] : [min, max]) }, y: { range: (u, min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      series: [
        { label: bucket, value: (u, t) => (t == null ? "–" : day(new Date(t * 1000))) },
        ...plot.lines.map(([label, name]) => ({
          label, stroke: colour(name), width: 1.8, points: { show: true, size: 5, fill: colour(name) },
          value: (u, v) => (v == null ? "–" : String(Number(v.toFixed(2)) || Number(v.toPrecision(2)))),
        })),
      ],
    }, values(plot), figure);
    chart.over.addEventListener("click", () => {
      const i = chart.cursor.idx;
      if (i == null) return;
      const from = new Date(x[i] * 1000);
      const moment = nearest(chart, plot, i);
      if (!moment) {
        location.hash = "at-" + day(from);
        return;
      }
      const to = new Date((x[i] + (bucket === "week" ? 7 : 1) * 86400) * 1000);
      location.href = "/?state=all&" + moment + "=" + day(from) + ".." + day(to) + (repo ? "&repo=" + encodeURIComponent(repo) : "");
    });
    drawn.push([chart, width]);
  }
  async function read() {
    const answer = await fetch(place.dataset.api).catch(() => null);
    if (!answer?.ok) return; // the page says that the relay is away
    ({ buckets, bucket } = await answer.json());
    if (!buckets.length) return;
    repo = new URL(answer.url).searchParams.get("repo");
    x = buckets.map((b) => Date.parse(b.start) / 1000);
    const all = plots();
    if (drawn.length) {
      drawn.forEach(([chart], n) => chart.setData(values(all[n])));
      return;
    }
    place.hidden = false;
    // All frames first: how wide each is depends on how many there are.
    const figures = all.map((plot) => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = plot.title;
      figure.append(caption);
      place.append(figure);
      return figure;
    });
    all.forEach((plot, n) => draw(plot, figures[n]));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(([chart]) => chart.redraw()));
  addEventListener("resize", () => drawn.forEach(([chart, width]) => chart.setSize({ width: width(), height: 170 })));
  document.addEventListener("htmx:after:swap", read);
  read();
})();
