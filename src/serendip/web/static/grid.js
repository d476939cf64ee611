"use strict";

/* The table of results: moves like a spreadsheet, takes pasted columns, and forgets nothing. */

(() => {
  const { store, say } = window.serendip;
  const NUMBER = /^[+\-−]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$/;
  const GROUPED = /^[+\-−]?\d{1,3}([.,'\u00a0\u2009\u202f ]\d{3})+([.,]\d*)?$/;
  const WORDS = ["failed", "fail", "excluded", "exclude"];

  const inputs = (form) => [...form.querySelectorAll("input.result")];
  const key = (form) => `serendip:results:${form.dataset.grid}`;
  const drafts = (form) => store.read(key(form))?.values || {};

  const fits = (form, text) => {
    const word = text.trim().toLowerCase();
    const allowed = JSON.parse(form.dataset.words || "[]");
    if (!word || WORDS.includes(word)) return true;
    if (allowed.length) return allowed.some((one) => one.toLowerCase() === word);
    return NUMBER.test(text.trim()) || GROUPED.test(text.trim());
  };

  const look = (form, input, strict) => {
    const word = input.value.trim().toLowerCase();
    const marked = WORDS.includes(word);
    input.classList.toggle("is-word", marked);
    for (const mark of input.closest("td").querySelectorAll(".mark"))
      mark.setAttribute("aria-pressed", String(marked && mark.dataset.mark.startsWith(word.slice(0, 4))));
    const says = document.getElementById(input.getAttribute("aria-describedby"));
    const good = fits(form, input.value);
    if (good) {
      if (says.dataset.mine) { says.hidden = true; says.textContent = ""; delete says.dataset.mine; input.removeAttribute("aria-invalid"); }
    } else if (strict) {
      const allowed = JSON.parse(form.dataset.words || "[]");
      says.textContent = allowed.length ? `Write ${allowed.join(", ")}, failed or excluded.` : "Write a number, failed or excluded.";
      says.hidden = false;
      says.dataset.mine = "1";
      input.setAttribute("aria-invalid", "true");
    }
  };

  const keep = (form) => {
    const values = drafts(form);
    for (const input of inputs(form)) {
      if (input.value.trim()) values[input.dataset.item] = input.value; else delete values[input.dataset.item];
    }
    if (Object.keys(values).length) store.write(key(form), { values }); else store.drop(key(form));
    note(form, "");
  };

  const note = (form, text) => {
    const place = form.querySelector("[data-draft-note]");
    const filled = inputs(form).filter((one) => one.value.trim()).length;
    place.hidden = !filled && !text;
    place.textContent = text || `${filled} not saved yet; kept on this computer.`;
  };

  /* Drafts of candidates that wait no more: shown, so that nothing typed is lost unseen. */
  const strays = (form, values) => {
    const box = form.querySelector("[data-strays]");
    const here = new Set(inputs(form).map((one) => one.dataset.item));
    const gone = Object.entries(values).filter(([item]) => !here.has(item));
    box.hidden = !gone.length;
    box.replaceChildren();
    if (!gone.length) return;
    const text = document.createElement("span");
    text.textContent = `Typed here, but no longer waiting: ${gone.map(([item, value]) => `${item} ${value}`).join(", ")}. `;
    const forget = document.createElement("button");
    forget.type = "button";
    forget.className = "link";
    forget.textContent = "Forget these";
    forget.addEventListener("click", () => {
      const left = drafts(form);
      for (const [item] of gone) delete left[item];
      if (Object.keys(left).length) store.write(key(form), { values: left }); else store.drop(key(form));
      box.hidden = true;
    });
    box.append(text, forget);
  };

  const move = (form, from, by) => {
    const all = inputs(form);
    const next = all[all.indexOf(from) + by];
    if (next) { next.focus(); next.select(); return true; }
    return false;
  };

  const paste = (form, start, text) => {
    const rows = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n").map((row) => row.split("\t").map((cell) => cell.trim()));
    if (rows.length === 1 && rows[0].length === 1) return false;
    const all = inputs(form);
    const byItem = new Map(all.map((one) => [one.dataset.item, one]));
    const named = rows.filter((row) => row.length > 1 && byItem.has(row[0])).length;
    let filled = 0;
    if (named * 2 > rows.length) {
      for (const row of rows) {
        const input = byItem.get(row[0]);
        if (input) { input.value = row[row.length - 1]; filled += 1; }
      }
    } else {
      const first = all.indexOf(start);
      rows.forEach((row, place) => {
        const input = all[first + place];
        if (input) { input.value = row[row.length - 1]; filled += 1; }
      });
      if (first + rows.length > all.length) say(`${first + rows.length - all.length} pasted values had no row left.`, true);
    }
    for (const input of all) look(form, input, true);
    keep(form);
    note(form, `${filled} filled in from the clipboard; not saved yet.`);
    return true;
  };

  const prepare = (form) => {
    if (form.dataset.ready) return;
    form.dataset.ready = "1";
    const bench = form.closest("#workbench");
    const values = drafts(form);
    for (const item of JSON.parse(bench?.dataset.told || "[]")) delete values[item];
    if (Object.keys(values).length) store.write(key(form), { values }); else store.drop(key(form));
    let restored = 0;
    for (const input of inputs(form)) {
      const old = values[input.dataset.item];
      if (old && !input.value) { input.value = old; restored += 1; }
      look(form, input, false);
    }
    note(form, restored ? `${restored} entries of before are back; not saved yet.` : "");
    strays(form, values);

    form.addEventListener("input", (event) => {
      if (event.target.matches("input.result")) { look(form, event.target, false); keep(form); }
    });
    form.addEventListener("change", (event) => {
      if (event.target.matches("input.result")) look(form, event.target, true);
      if (event.target.matches("[data-all-columns]")) form.querySelector("table").classList.toggle("all-columns", event.target.checked);
    });
    form.addEventListener("keydown", (event) => {
      const input = event.target;
      if (!input.matches("input.result")) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); return; }
      const by = { Enter: event.shiftKey ? -1 : 1, Tab: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by === undefined || event.altKey) return;
      if (input.hasAttribute("list") && event.key.startsWith("Arrow")) return;
      const moved = move(form, input, by);
      if (moved) event.preventDefault();
      else if (event.key === "Enter") { event.preventDefault(); form.querySelector("button.primary").focus(); }
      else if (event.key.startsWith("Arrow")) event.preventDefault();
    });
    form.addEventListener("paste", (event) => {
      if (!event.target.matches("input.result")) return;
      if (paste(form, event.target, event.clipboardData.getData("text/plain"))) event.preventDefault();
    });
    /* A reason is a sentence: it gets the whole width, below its row. */
    form.addEventListener("toggle", (event) => {
      const details = event.target;
      if (!details.matches(".why details")) return;
      const row = details.closest("tr");
      const shown = row.nextElementSibling?.matches(".reason-row") ? row.nextElementSibling : null;
      if (!details.open && shown) { details.append(shown.querySelector("p")); shown.remove(); }
      if (!details.open || shown) return;
      const below = document.createElement("tr");
      below.className = "reason-row";
      const wide = below.insertCell();
      wide.className = "why reason";
      wide.colSpan = row.cells.length;
      wide.append(details.querySelector("p"));
      row.after(below);
    }, true);
    form.addEventListener("click", (event) => {
      const mark = event.target.closest(".mark");
      if (!mark) return;
      const input = mark.closest("td").querySelector("input.result");
      input.value = input.value === mark.dataset.mark ? "" : mark.dataset.mark;
      look(form, input, true);
      keep(form);
      input.focus();
    });
  };

  /* After an answer without a table, what was told is no draft any more. */
  const settle = () => {
    const bench = document.getElementById("workbench");
    const form = document.querySelector("form[data-grid]");
    if (form) { prepare(form); return; }
    const name = `serendip:results:${bench.dataset.campaign}`;
    const values = store.read(name)?.values || {};
    for (const item of JSON.parse(bench.dataset.told || "[]")) delete values[item];
    if (Object.keys(values).length) store.write(name, { values }); else store.drop(name);
  };

  settle();
  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (!document.getElementById("workbench")) return;
    settle();
    if (event.detail.requestConfig?.verb !== "post") return;
    const wrong = document.querySelector("#workbench [aria-invalid=true]");
    const first = document.querySelector("#workbench input.result");
    (wrong || first || document.querySelector("#workbench .ask button"))?.focus({ preventScroll: false });
  });
  /* Another tab of the same campaign typed something: show it here too. */
  window.addEventListener("storage", (event) => {
    const form = document.querySelector("form[data-grid]");
    if (!form || event.key !== key(form)) return;
    const values = drafts(form);
    for (const input of inputs(form)) {
      if (document.activeElement !== input && values[input.dataset.item] && !input.value) { input.value = values[input.dataset.item]; look(form, input, false); }
    }
  });
})();
