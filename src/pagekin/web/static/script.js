"use strict";
// These pages work without this file. It adds: keys that walk results, other words and filters without a
// new page, words while one types, and maps that can be enlarged.
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const on = (who, what, act, how) => who.addEventListener(what, act, how);
const stop = (event) => event.preventDefault();
const all = (what, within = document) => [...within.querySelectorAll(what)];
const typing = (at) => at.matches?.("input, select, textarea, [contenteditable]");
const mark = (one, given) => Object.entries(given).forEach(([key, value]) => one.setAttribute(key, value));
const make = (tag, name, given = {}) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  mark(made, given);
  return made;
};
const main = () => document.getElementById("main");
const here = () => location.pathname + location.search;

// -- another question without a new page
let shown = here();
let loading = null;

// The page at an address; nothing if another was asked for meanwhile, and as a plain link if it cannot be had.
async function load(address) {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  main().setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.getElementById("main")) throw new TypeError("no page");
    return signal.aborted ? null : page;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

function put(page) {
  document.title = page.title;
  for (const what of ["main", "footer.bottom"]) document.querySelector(what)?.replaceWith(page.querySelector(what));
  const asked = page.querySelector("header input[name=q]"), field = document.querySelector("header input[name=q]");
  if (asked && field) field.value = asked.getAttribute("value") || "";
  shown = here();
  prepare(main());
}

async function go(address) {
  try {
    const page = await load(address);
    if (!page) return;
    history.replaceState({ ...history.state, y: scrollY }, "");
    history.pushState({ y: 0 }, "", address);
    put(page);
    main().focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch {
    location.assign(address);
  }
}

on(document, "click", (event) => {
  const link = event.target.closest?.("main a[data-live]");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  stop(event);
  go(link.href);
});

on(document, "submit", (event) => {
  const form = event.target.closest("main form[data-live]");
  if (!form) return;
  stop(event);
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  go(`${form.action.split("?")[0]}?${asked}`);
});

on(window, "popstate", async (event) => {
  if (here() === shown) return;
  const y = event.state?.y || 0;
  try {
    const page = await load(here());
    if (!page) return;
    put(page);
    scrollTo(0, y);
  } catch {
    location.reload();
  }
});

// -- keys
function walk(step) {
  const results = all("main [data-result]");
  const at = results.indexOf(document.activeElement?.closest("[data-result]"));
  const next = results[at < 0 ? (step > 0 ? 0 : results.length - 1) : at + step];
  if (next) {
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  }
  return Boolean(next);
}

on(document, "keydown", (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const at = document.activeElement || document.body;
  if (event.key === "Escape") {
    if (at !== document.body) at.blur();
    return;
  }
  if (typing(at)) {
    if (event.key === "ArrowDown" && at.name === "q" && walk(1)) stop(event);
    return;
  }
  if (event.key === "/") {
    stop(event);
    const field = document.querySelector("input[type=search]");
    field?.focus();
    field?.select();
  } else if (!event.shiftKey && !at.closest?.("svg, summary")) {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step && walk(step)) stop(event);
  }
});

// -- words while one types
let lists = 0;

function offerWords(field) {
  const form = field.form, name = `words-${++lists}`;
  const list = make("ul", "words", { id: name, role: "listbox", "aria-label": "Words that may be meant", hidden: "" });
  let timer = 0, asking = null, chosen = -1, typed = field.value;
  mark(field, { role: "combobox", "aria-autocomplete": "list", "aria-controls": name, "aria-expanded": "false" });
  form.append(list);

  const choose = (place) => {
    const options = all("li", list);
    chosen = place < options.length ? place : -1;
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    if (chosen < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", options[chosen].id);
  };
  const open = (words) => {
    list.replaceChildren(...words.map((word, at) => {
      const option = make("li", "", { id: `${name}-${at}`, role: "option" });
      option.textContent = word;
      return option;
    }));
    list.hidden = !words.length;
    field.setAttribute("aria-expanded", String(words.length > 0));
    choose(-1);
  };
  const close = () => {
    clearTimeout(timer);
    asking?.abort();
    open([]);
  };
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking, address = new URL("complete", form.action);
    address.searchParams.set("q", typed);
    try {
      const [asked, words] = await (await fetch(address, { signal })).json();
      if (!signal.aborted && document.activeElement === field) open(words.filter((word) => word !== asked));
    } catch {
      if (!signal.aborted) open([]);
    }
  };

  on(field, "input", () => {
    typed = field.value;
    clearTimeout(timer);
    if (typed.trim()) timer = setTimeout(ask, 120);
    else close();
  });
  on(field, "keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      stop(event);
      const last = list.children.length - 1;
      choose(event.key === "ArrowDown" ? chosen + 1 : chosen < 0 ? last : chosen - 1);
      field.value = list.children[chosen]?.textContent ?? typed;
    } else if (event.key === "Escape") {
      stop(event);
      field.value = typed;
      close();
    } else if (event.key === "Enter") close();
  });
  // Before the field loses focus, so that the click still finds the list.
  on(list, "pointerdown", stop);
  on(list, "click", (event) => {
    const option = event.target.closest("li");
    if (!option) return;
    field.value = option.textContent;
    close();
    form.requestSubmit();
  });
  on(field, "blur", close);
  on(form, "submit", close);
}

// -- maps that can be enlarged
function enlarge(map) {
  const { x: left, y: top, width, height } = map.viewBox.baseVal;
  const whole = [left, top, width, height];
  let box = whole, moving = 0, drag = null, dragged = false;
  const set = (to) => map.setAttribute("viewBox", (box = to).map((value) => value.toFixed(2)).join(" "));
  const between = (value, least, most) => Math.min(Math.max(value, least), most);
  const within = ([x, y, w, h]) => [between(x, left, left + width - w), between(y, top, top + height - h), w, h];
  const move = (to) => {
    cancelAnimationFrame(moving);
    if (calm.matches) return set(to);
    const from = box, began = performance.now();
    const step = (now) => {
      const share = between((now - began) / 160, 0, 1);
      set(from.map((value, side) => value + (to[side] - value) * share));
      if (share < 1) moving = requestAnimationFrame(step);
    };
    moving = requestAnimationFrame(step);
  };
  const zoom = (factor) => {
    const w = between(box[2] * factor, width / 16, width), h = w * height / width;
    move(within([box[0] + (box[2] - w) / 2, box[1] + (box[3] - h) / 2, w, h]));
  };
  const ways = [
    ["+", "Enlarge", () => zoom(0.6)], ["−", "Make smaller", () => zoom(1 / 0.6)], ["All", "Show all", () => move(whole)],
  ];
  // The frame is the page's: a new one would move things.
  const frame = map.parentElement, buttons = make("div", "zooms");
  for (const [sign, name, action] of ways) {
    const button = make("button", "", { type: "button", title: name, "aria-label": name });
    button.textContent = sign;
    on(button, "click", action);
    buttons.append(button);
  }
  frame.append(buttons);

  on(frame, "keydown", (event) => {
    const way = ways[{ "+": 0, "=": 0, "-": 1, "0": 2 }[event.key]];
    if (!way || event.metaKey || event.ctrlKey || event.altKey) return;
    stop(event);
    way[2]();
  });
  on(map, "pointerdown", (event) => {
    dragged = false;
    // As long as all is shown there is nowhere to go, and a finger scrolls the page.
    if (!event.button && box[2] < width) drag = [event.clientX, event.clientY, box];
  });
  on(map, "pointermove", (event) => {
    if (!drag) return;
    const [fromX, fromY, from] = drag, x = event.clientX - fromX, y = event.clientY - fromY;
    if (!dragged && Math.hypot(x, y) < 5) return;
    if (!dragged) map.setPointerCapture(event.pointerId);
    dragged = true;
    const scale = from[2] / map.clientWidth;
    set(within([from[0] - x * scale, from[1] - y * scale, from[2], from[3]]));
  });
  for (const end of ["pointerup", "pointercancel"]) on(map, end, () => { drag = null; });
  on(map, "touchmove", (event) => { if (drag) stop(event); }, { passive: false });
  on(map, "dragstart", stop);
  on(map, "click", (event) => { if (dragged) stop(event); }, true);
}

function prepare(within) {
  all("form[role=search] input[name=q]", within).forEach(offerWords);
  all("svg[data-zoom]", within).forEach(enlarge);
}

prepare(document);
