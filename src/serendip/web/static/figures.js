"use strict";

/* Figures: fetched when they come into view, drawn by plotly in the colours of the page. */

(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const faint = (colour, share) => `color-mix(in srgb, ${colour} ${share}%, transparent)`;
  const solid = (colour) => {
    /* plotly knows rgb() alone, so the browser resolves what style sheets may say */
    const probe = document.createElement("span");
    probe.style.color = colour;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    const mixed = found.match(/color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)(?: \/ ([\d.]+))?\)/);
    if (!mixed) return found;
    const [r, g, b] = mixed.slice(1, 4).map((one) => Math.round(255 * Number(one)));
    return `rgba(${r}, ${g}, ${b}, ${mixed[4] ?? 1})`;
  };
  const themed = (value) => {
    if (Array.isArray(value)) return value.map((one) => (typeof one === "object" || typeof one === "string" ? themed(one) : one));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, themed(one)]));
    if (typeof value !== "string" || !value.startsWith("@")) return value;
    const [, name, part] = value.match(/^@([a-z]+)(?:-(band|faint))?$/) || [];
    if (!name) return value;
    const colour = css(name);
    return solid(part === "band" ? faint(colour, 16) : part === "faint" ? faint(colour, 45) : colour);
  };

  const layout = (own) => {
    const axis = { gridcolor: css("line"), linecolor: css("line-strong"), zerolinecolor: css("line-strong"), tickcolor: css("line-strong"), tickfont: { color: css("soft") }, automargin: true, fixedrange: false };
    const title = (one) => ({ ...(one?.title || {}), font: { size: 12.5, color: css("soft") }, standoff: 10 });
    return {
      ...own,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: css("ink") },
      margin: { l: 54, r: 14, t: 8, b: 42 },
      hoverlabel: { bgcolor: css("raised"), bordercolor: css("line-strong"), font: { color: css("ink") }, align: "left" },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left", font: { color: css("soft") }, bgcolor: "rgba(0,0,0,0)" },
      xaxis: { ...axis, ...own.xaxis, title: title(own.xaxis) },
      yaxis: { ...axis, ...own.yaxis, title: title(own.yaxis) },
    };
  };

  const drawn = new Map();
  const draw = (box) => {
    const made = drawn.get(box);
    if (!made) return;
    const figure = themed(made);
    const height = figure.layout.height || parseInt(box.style.minHeight, 10) || 340;
    box.querySelector(".skeleton")?.remove();
    let plot = box.querySelector(".plot");
    if (!plot) { plot = document.createElement("div"); plot.className = "plot"; box.append(plot); }
    let note = box.querySelector(".hint");
    if (!note) { note = document.createElement("p"); note.className = "hint"; box.append(note); }
    note.textContent = made.note || "";
    note.hidden = !made.note;
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", made.alt || box.dataset.title);
    const bare = { ...layout(figure.layout), height };
    if (bare.coloraxis) bare.coloraxis.colorbar.tickfont = { color: css("soft") };
    Plotly.react(plot, figure.data, bare, { displayModeBar: false, responsive: true, doubleClick: "reset" }).then(() => {
      box.dataset.drawn = "1";
      if (plot.dataset.listens) return;
      plot.dataset.listens = "1";
      plot.on("plotly_click", (event) => choose(event.points?.[0]?.customdata));
    });
  };

  const choose = (id) => {
    const aside = document.getElementById("candidate");
    if (!id || !aside) return;
    htmx.ajax("GET", `${aside.dataset.candidate}?id=${encodeURIComponent(id)}`, { target: "#candidate", swap: "innerHTML" });
  };

  const load = async (box) => {
    const url = box.dataset.figure;
    box.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(url, { headers: { "HX-Request": "true" } });
      if (!answer.ok) throw new Error(new DOMParser().parseFromString(await answer.text(), "text/html").body.textContent.trim());
      if (box.dataset.figure !== url) return;
      drawn.set(box, await answer.json());
      draw(box);
    } catch (problem) {
      const says = document.createElement("p");
      says.className = "error block";
      says.setAttribute("role", "alert");
      says.textContent = problem.message || "The figure could not be made; reload the page to try again.";
      box.replaceChildren(says);
    } finally {
      box.removeAttribute("aria-busy");
    }
  };

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); load(entry.target); }
  }, { rootMargin: "200px" });
  const watch = (root) => { for (const box of root.querySelectorAll("[data-figure]")) if (!box.dataset.watched) { box.dataset.watched = "1"; seen.observe(box); } };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-figure-set]");
    if (!button) return;
    for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(one === button));
    const box = document.getElementById(button.dataset.figureSet);
    const url = new URL(box.dataset.figure, location.href);
    url.searchParams.set(button.dataset.param, button.dataset.value);
    box.dataset.figure = url.pathname + url.search;
    load(box);
  });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const box of drawn.keys()) draw(box); });
  watch(document);
  document.body.addEventListener("htmx:load", (event) => watch(event.detail.elt.parentElement || document));
})();
