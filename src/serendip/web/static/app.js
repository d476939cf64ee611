"use strict";

/* What every page shares: files that are dropped, forms that remember, short messages. */

(() => {
  const say = (text, bad = false) => {
    const box = document.createElement("p");
    box.className = bad ? "toast bad" : "toast";
    box.textContent = text;
    box.addEventListener("click", () => box.remove());
    document.getElementById("says").append(box);
    said.push(text);
    setTimeout(() => box.remove(), bad ? 15000 : 8000);
  };
  const said = [];
  window.serendip = { say, said };

  /* --- dropped files ------------------------------------------------------------------------ */
  const prepareDrops = (root) => {
    for (const zone of root.querySelectorAll("[data-drop]")) {
      const input = zone.querySelector("input[type=file]");
      const name = zone.querySelector("[data-drop-name]");
      if (zone.dataset.ready) continue;
      zone.dataset.ready = "1";
      const show = () => {
        if (!input.files.length) return;
        name.textContent = input.files[0].name;
        zone.classList.add("chosen");
      };
      input.addEventListener("change", () => {
        show();
        if (zone.closest("form").querySelector("[data-drop-submit]")) zone.closest("form").requestSubmit();
      });
      for (const kind of ["dragenter", "dragover"])
        zone.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
      for (const kind of ["dragleave", "drop"])
        zone.addEventListener(kind, () => zone.classList.remove("over"));
      zone.addEventListener("drop", (event) => {
        event.preventDefault();
        if (!event.dataTransfer.files.length) return;
        input.files = event.dataTransfer.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
      });
    }
  };
  /* A file that misses its place must not replace the page and what was typed on it. */
  for (const kind of ["dragover", "drop"])
    window.addEventListener(kind, (event) => { if (!event.target.closest?.("[data-drop]")) event.preventDefault(); });

  /* --- forms that remember ------------------------------------------------------------------ */
  const MONTH = 30 * 24 * 3600 * 1000;
  const store = {
    read(key) { try { return JSON.parse(localStorage.getItem(key)) || null; } catch { return null; } },
    write(key, value) { try { localStorage.setItem(key, JSON.stringify({ ...value, at: Date.now() })); } catch { /* full or forbidden */ } },
    drop(key) { try { localStorage.removeItem(key); } catch { /* forbidden */ } },
    tidy() {
      try {
        for (const key of Object.keys(localStorage))
          if (key.startsWith("serendip:") && !(store.read(key)?.at > Date.now() - MONTH)) localStorage.removeItem(key);
      } catch { /* forbidden */ }
    },
  };
  window.serendip.store = store;

  const prepareDraft = (form) => {
    const key = `serendip:form:${form.dataset.draft}`;
    const fields = () => [...form.elements].filter((one) => one.name && !["hidden", "file", "submit"].includes(one.type));
    const values = () => Object.fromEntries(fields().map((one) =>
      ["radio", "checkbox"].includes(one.type) ? [`${one.name}=${one.value}`, one.checked] : [one.name, one.value]));
    const kept = store.read(key)?.values;
    if (kept && !("answered" in form.dataset)) {
      let changed = null;
      for (const one of fields()) {
        const box = ["radio", "checkbox"].includes(one.type);
        const old = kept[box ? `${one.name}=${one.value}` : one.name];
        if (old === undefined || old === (box ? one.checked : one.value)) continue;
        if (box) one.checked = old; else one.value = old;
        if (one.hasAttribute("hx-post")) changed = one;
      }
      if (changed) window.addEventListener("load", () => changed.dispatchEvent(new Event("change", { bubbles: true })));
    }
    form.addEventListener("input", () => store.write(key, { values: values() }));
    form.addEventListener("change", () => store.write(key, { values: values() }));
  };

  /* --- parts that show only with a choice ---------------------------------------------------- */
  const prepareWhen = (form) => {
    const parts = form.querySelectorAll("[data-when]");
    if (!parts.length) return;
    const update = () => {
      for (const part of parts) {
        const [name, value] = part.dataset.when.split("=");
        part.hidden = form.elements[name].value !== value;
      }
    };
    form.addEventListener("change", update);
    update();
  };

  /* --- forms that take a while ---------------------------------------------------------------- */
  document.addEventListener("submit", (event) => {
    const button = event.target.querySelector("button[data-busy]");
    if (!button || event.defaultPrevented) return;
    const spinner = document.createElement("span");
    spinner.className = "spinner";
    button.dataset.rest = button.textContent;
    button.replaceChildren(spinner, ` ${button.dataset.busy}`);
    setTimeout(() => { button.disabled = true; });
  });
  window.addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("button[data-rest]")) { button.disabled = false; button.textContent = button.dataset.rest; }
  });

  /* --- a form that is checked as it is filled in ---------------------------------------------- */
  /* Heard by the page, not by the field: an answer replaces fields, and no change may be lost. */
  document.addEventListener("change", (event) => {
    const box = event.target.closest?.("[data-recheck]") && event.target.form.querySelector("[data-rechecks]");
    if (box) htmx.trigger(box, "recheck");
  });

  /* --- small windows that close when one looks elsewhere ------------------------------------- */
  document.addEventListener("click", (event) => {
    for (const one of document.querySelectorAll("details[data-popover][open]"))
      if (!one.contains(event.target)) one.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const one of document.querySelectorAll("details[data-popover][open]")) {
      one.open = false;
      one.querySelector("summary").focus();
    }
  });

  /* --- how far it is, of what takes more than two seconds ------------------------------------- */
  /* A box speaks while what is around it waits for the server, and is silent again after. */
  const PATIENCE = 2000;
  const since = new WeakMap();
  const hush = (box) => { since.delete(box); box.hidden = true; box.replaceChildren(); };
  const tellWait = (box, wait) => {
    const counts = wait.total !== null;
    if (!box.firstElementChild) {
      const bar = document.createElement("span");
      bar.className = "bar";
      bar.setAttribute("role", "progressbar");
      bar.append(document.createElement("span"));
      box.append(bar, document.createElement("span"));
    }
    const [bar, says] = box.children;
    const figures = [wait.what, counts ? `${wait.done.toLocaleString("en")} of ${wait.total.toLocaleString("en")}` : "", wait.left];
    says.textContent = figures.filter(Boolean).join(", ");
    bar.setAttribute("aria-label", wait.what);
    bar.firstElementChild.style.width = `${counts ? (100 * wait.done) / wait.total : 0}%`;
    if (counts) {
      for (const [name, value] of [["min", 0], ["max", wait.total], ["now", wait.done]]) bar.setAttribute(`aria-value${name}`, String(value));
      bar.setAttribute("aria-valuetext", says.textContent);
    } else {
      for (const name of ["min", "max", "now", "text"]) bar.removeAttribute(`aria-value${name}`);
    }
    box.hidden = false;
  };
  const lookAtWaits = async () => {
    const asked = new Map();
    for (const box of document.querySelectorAll("[data-waits]")) {
      if (!box.closest(".htmx-request, [aria-busy]")) { if (since.has(box)) hush(box); continue; }
      if (!since.has(box)) since.set(box, Date.now());
      if (Date.now() - since.get(box) < PATIENCE) continue;
      asked.set(box.dataset.waits, [...(asked.get(box.dataset.waits) || []), box]);
    }
    for (const [url, boxes] of asked) {
      try {
        const answer = await fetch(url, { headers: { "HX-Request": "true" } });
        if (answer.status !== 200) continue;
        const wait = await answer.json();
        for (const box of boxes) if (since.has(box)) tellWait(box, wait);
      } catch { /* the request that is waited for says so */ }
    }
    setTimeout(lookAtWaits, 1000);
  };
  lookAtWaits();

  const prepare = (root) => {
    prepareDrops(root);
    for (const form of root.querySelectorAll("form")) prepareWhen(form);
    const done = root.querySelector?.("[data-done]") || (root.matches?.("[data-done]") ? root : null);
    if (done) { say(done.dataset.done); delete done.dataset.done; }
  };

  store.tidy();
  for (const form of document.querySelectorAll("form[data-draft]")) prepareDraft(form);
  prepare(document);
  document.body.addEventListener("htmx:load", (event) => {
    if (event.detail.elt !== document.body) prepare(event.detail.elt.parentElement || event.detail.elt);
  });
  document.body.addEventListener("htmx:responseError", (event) => {
    const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
    say(page.querySelector("[role=alert], p")?.textContent.trim() || "The server could not do that; try again.", true);
  });
  document.body.addEventListener("htmx:sendError", () => say("The server cannot be reached; what you typed is kept here.", true));
})();
