"use strict";

/* A backtest under way: the server tells how far it is, and then the page shows what came out. */

(() => {
  const box = document.querySelector("[data-job]");
  if (!box) return;
  const url = box.dataset.job;
  const bar = box.querySelector("[role=progressbar]");
  const stream = new EventSource(`${url}/events`);
  /* The browser tries again by itself, until a server that was started anew does not know the backtest. */
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) htmx.ajax("GET", url, { target: "#job", swap: "outerHTML" });
  });
  stream.addEventListener("message", (event) => {
    const job = JSON.parse(event.data);
    if (!["waiting", "running"].includes(job.state)) {
      stream.close();
      htmx.ajax("GET", url, { target: "#job", swap: "outerHTML" });
      return;
    }
    bar.setAttribute("aria-valuemax", String(job.total || 1));
    bar.setAttribute("aria-valuenow", String(job.done));
    bar.firstElementChild.style.width = `${job.total ? (100 * job.done) / job.total : 0}%`;
    box.querySelector("[data-job-figures]").textContent = `${job.done} of ${job.total || "…"} runs`;
    if (job.state === "running") box.querySelector("[data-job-says]").textContent = "You may leave this page; the backtest goes on.";
  });
})();
