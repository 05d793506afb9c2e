// Search in this site without a server: words, their stems and misspellings, from the files beside this script.
// ASCII alone, as pages may be in any encoding. Made by Pagekin.
// Other scripts may call: await pagekin.search("some words", 10) -> [{url, path, title, text, score}].
(() => {
  "use strict";
  if (window.pagekin) return;
  const script = document.currentScript;
  const home = new URL(".", script.src); // wherever the site is served from
  const CAP = 16, STEP = 10; // words of a question, and hits that are shown at a time

  // ---- files ----------------------------------------------------------------------------------------------------------
  const kept = new Map();
  const once = (name, load) => {
    if (!kept.has(name)) {
      const promise = load();
      promise.catch(() => kept.delete(name));
      kept.set(name, promise);
    }
    return kept.get(name);
  };
  async function fetchFile(name, options) {
    const answer = await fetch(new URL(name, home), options);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer;
  }
  const meta = () => once("meta", async () => (await fetchFile("search/meta.json", { cache: "no-cache" })).json());
  const unpacked = (name) => once(name, async () => {
    const about = await meta();
    const bytes = new Uint8Array(await (await fetchFile(`search/${about.id}/${name}`)).arrayBuffer());
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes; // a server may have unpacked it
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  });
  const asText = async (name) => new TextDecoder().decode(await unpacked(name));
  const number = (value) => String(value).padStart(3, "0");

  // A shard of words: per form its name (as a change of the one before), pages that hold it, pages listed, and their parts.
  const shard = (place) => once(`shard ${place}`, async () => {
    const bytes = await unpacked(`words-${number(place)}.bin`);
    const decoder = new TextDecoder();
    let at = 0;
    const varint = () => {
      let value = 0, scale = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte & 128);
      return value;
    };
    const forms = new Map();
    let name = new Uint8Array(0);
    for (let left = varint(); left > 0; left--) {
      const same = varint(), more = varint();
      const next = new Uint8Array(same + more);
      next.set(name.subarray(0, same));
      next.set(bytes.subarray(at, at + more), same);
      at += more;
      name = next;
      const df = varint(), count = varint(), size = varint();
      forms.set(decoder.decode(name), { df, count, at, parts: at + size });
      at += size + count;
    }
    return { bytes, forms };
  });

  function addPostings(into, { bytes }, form, weight) {
    let at = form.at, page = -1;
    for (let i = 0; i < form.count; i++) {
      let value = 0, scale = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte & 128);
      page += value + 1;
      const part = bytes[form.parts + i];
      const body = (weight * (part >> 4) * 2.2) / 15, called = (weight * (part & 15) * 12) / 15;
      const old = into.get(page);
      if (!old) into.set(page, [body, called]);
      else { old[0] = Math.max(old[0], body); old[1] = Math.max(old[1], called); }
    }
  }

  // ---- words ----------------------------------------------------------------------------------------------------------
  const PAIRS = "\\u0E00-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u3005-\\u3007\\u3040-\\u312F\\u31F0-\\u31FF\\uFF66-\\uFF9F" +
    "\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uF900-\\uFAFF\\u{20000}-\\u{3FFFF}";
  const WORD = new RegExp(`[${PAIRS}]+|(?:(?![${PAIRS}])[\\p{L}\\p{N}])(?:(?![${PAIRS}])[\\p{L}\\p{N}\\p{M}])*`, "gu");
  const PAIR = new RegExp(`^[${PAIRS}]`, "u");
  const IGNORED = /[\0\u00AD\u200C\u200D\u2060\uFEFF\uFE00-\uFE0F]/g;
  function words(text) {
    const found = [];
    for (const [run] of text.replace(IGNORED, "").normalize("NFC").matchAll(WORD)) {
      const letters = PAIR.test(run) ? [...run] : [];
      if (letters.length > 1) for (let i = 1; i < letters.length; i++) found.push(letters[i - 1] + letters[i]);
      else found.push(run.toLowerCase().replace(/\u00df/g, "ss").replace(/\u03c2/g, "\u03c3").normalize("NFC"));
    }
    return found;
  }

  // The stemmer of M. F. Porter, "An algorithm for suffix stripping" (1980), step by step.
  const V = "(?:[aeiou]|(?<=[^aeiou])y)", C = "(?:[^aeiouy]|(?<![^aeiou])y)";
  const measure = new RegExp(`${V}+${C}+`, "g");
  const hasVowel = new RegExp(V), closed = new RegExp(`${C}${V}${C}$`), doubled = /(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
  const m = (stem) => (stem.match(measure) || []).length;
  const short = (stem) => closed.test(stem) && !/[wxy]$/.test(stem);
  const STEP2 = "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e ousli:ous ization:ize " +
    "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble";
  const STEP3 = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:";
  const STEP4 = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize ion";
  const table = (text) => text.split(" ").map((pair) => pair.split(":")).sort((a, b) => b[0].length - a[0].length);
  const tables = [table(STEP2), table(STEP3), table(STEP4)];
  function replaceEnd(word, endings, least) {
    for (const [end, by = ""] of endings) {
      if (!word.endsWith(end)) continue;
      const stem = word.slice(0, -end.length);
      return m(stem) > least && (end !== "ion" || /[st]$/.test(stem)) ? stem + by : word;
    }
    return word;
  }
  function stem(word) {
    if (word.length <= 2 || !/^[\0-\x7f]+$/.test(word)) return word;
    let w = word;
    if (/(ss|i)es$/.test(w)) w = w.slice(0, -2);
    else if (/[^s]s$/.test(w) || w === "s") w = w.slice(0, -1);
    if (w.endsWith("eed")) { if (m(w.slice(0, -3)) > 0) w = w.slice(0, -1); }
    else {
      const cut = /(ed|ing)$/.exec(w);
      if (cut && hasVowel.test(w.slice(0, cut.index))) {
        w = w.slice(0, cut.index);
        if (/(at|bl|iz)$/.test(w)) w += "e";
        else if (doubled.test(w)) w = w.slice(0, -1);
        else if (m(w) === 1 && short(w)) w += "e";
      }
    }
    if (w.endsWith("y") && hasVowel.test(w.slice(0, -1))) w = w.slice(0, -1) + "i";
    w = replaceEnd(w, tables[0], 0);
    w = replaceEnd(w, tables[1], 0);
    w = replaceEnd(w, tables[2], 1);
    if (w.endsWith("e")) {
      const rest = w.slice(0, -1);
      if (m(rest) > 1 || (m(rest) === 1 && !short(rest))) w = rest;
    }
    if (w.endsWith("ll") && m(w) > 1) w = w.slice(0, -1);
    return w;
  }

  // Letters to insert, delete, change or exchange with the next; more than `most` is as good as any.
  function distance(a, b, most) {
    let before = [], last = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
      const now = [i];
      let least = i;
      for (let j = 1; j <= b.length; j++) {
        let cell = Math.min(last[j - 1] + (a[i - 1] !== b[j - 1]), last[j] + 1, now[j - 1] + 1);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cell = Math.min(cell, before[j - 2] + 1);
        now.push(cell);
        least = Math.min(least, cell);
      }
      if (least > most) return most + 1;
      before = last;
      last = now;
    }
    return last[b.length];
  }
  async function nearest(word, most, isFit = () => true) {
    let best = null, bestCost = Infinity;
    if (most) for (const line of (await asText("dictionary.bin")).split("\n")) {
      const other = line.slice(0, -1), common = line.charCodeAt(line.length - 1) - 48;
      if (Math.abs(other.length - word.length) > most || !isFit(other, common)) continue;
      const far = distance(word, other, most);
      const cost = far + (other[0] !== word[0]) / 2 - common / 8;
      if (far <= most && cost < bestCost) [best, bestCost] = [other, cost];
    }
    return best;
  }

  // The frequent word that a rare one may be misspelt for, or null. A word in a title or link is taken to be meant.
  const RARE = 2, RATIO = 20, SHORTEST = 5, COMMON = 2;
  async function likelier(word, found) {
    if (found.df > RARE || word.length < SHORTEST || [...found.into.values()].some(([, called]) => called)) return null;
    const own = stem(word);
    const other = await nearest(word, word.length < 8 ? 1 : 2,
      (one, common) => common >= COMMON && one[0] === word[0] && stem(one) !== own);
    return other && (await postingsOf(other, false)).df >= RATIO * found.df ? other : null;
  }

  // ---- search ---------------------------------------------------------------------------------------------------------
  async function postingsOf(word, typing) {
    const about = await meta();
    const form = stem(Object.hasOwn(about.irregular, word) ? about.irregular[word] : word);
    const place = Math.max(0, about.shards.findLastIndex((first) => compare(first, form) <= 0));
    const here = await shard(place);
    const into = new Map();
    let df = 0, cut = false;
    const take = (one, weight) => {
      addPostings(into, here, one, weight);
      df = Math.max(df, one.df);
      cut ||= one.count < one.df; // of a word that stands nearly everywhere only the best pages are listed
    };
    if (here.forms.has(form)) take(here.forms.get(form), 1);
    if (typing && word.length > 1) {
      const longer = [...here.forms].filter(([name]) => name !== form && name.startsWith(word));
      for (const [, one] of longer.sort((a, b) => b[1].df - a[1].df).slice(0, 5)) take(one, 0.6);
    }
    return { into, df, cut };
  }
  // As the index orders names: by UTF-8 bytes, which is by code points.
  function compare(a, b) {
    const left = [...a], right = [...b];
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      if (left[i] !== right[i]) return left[i].codePointAt(0) - right[i].codePointAt(0);
    }
    return left.length - right.length;
  }

  async function search(query, limit = 10) {
    const asked = [...new Set(words(query))].slice(0, CAP);
    const typing = /[\p{L}\p{N}]$/u.test(query);
    const about = await meta();
    const slots = [];
    const meant = [], likely = [];
    for (const [place, word] of asked.entries()) {
      let found = await postingsOf(word, typing && place === asked.length - 1), shown = word;
      if (!found.df) {
        const other = await nearest(word, word.length <= 2 ? 0 : word.length <= 4 ? 1 : 2);
        if (other) {
          found = await postingsOf(other, false);
          shown = other;
        }
      }
      meant.push(shown);
      likely.push((shown === word && found.df && (await likelier(word, found))) || shown);
      if (found.df) slots.push({ ...found, idf: Math.log(1 + (about.pages - found.df + 0.5) / (found.df + 0.5)) });
    }
    const sum = (some) => some.reduce((total, slot) => total + slot.idf, 0);
    const all = sum(slots), needed = sum(slots.filter((slot) => !slot.cut));
    const scores = new Map();
    for (const slot of slots) for (const [page, [body, called]] of slot.into) {
      const score = scores.get(page) || [0, 0, 0, 0];
      score[0] += slot.idf * body;
      score[1] += slot.idf * called;
      score[2] += called ? slot.idf : 0;
      score[3] += slot.cut ? 0 : slot.idf;
      scores.set(page, score);
    }
    let whole = 0;
    const ranked = [...scores].map(([page, [body, called, named, held]]) => {
      const score = body + called * (named / all) ** 6;
      const holdsAll = held >= needed * 0.999; // such pages come first
      whole += holdsAll;
      return [page, holdsAll ? 1 + score : score / (1 + score)];
    }).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const hits = await Promise.all(ranked.slice(0, limit).map(async ([page, score]) => {
      const group = Math.floor(page / about.group);
      const list = await once(`group ${group}`, async () => JSON.parse(await asText(`pages-${number(group)}.bin`)));
      const [path, title, text] = list[page - group * about.group];
      return { url: new URL(path, new URL("..", home)).href, path, title, text, score };
    }));
    if (slots.length < asked.length) whole = 0; // a word that no page has
    const differs = (one, other) => one.some((word, place) => word !== other[place]);
    return { hits, whole, total: ranked.length, meant: differs(meant, asked) ? meant.join(" ") : "",
      likely: differs(likely, meant) ? likely.join(" ") : "" };
  }

  // ---- the box --------------------------------------------------------------------------------------------------------
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  function emphasise(text, asked) {
    const stems = new Set(asked.map(stem));
    const pieces = [];
    let end = 0;
    for (const found of text.matchAll(WORD)) {
      if (!words(found[0]).some((word) => stems.has(stem(word)))) continue;
      pieces.push(...breakable(text.slice(end, found.index)), element("mark", {}, ...breakable(found[0])));
      end = found.index + found[0].length;
    }
    return [...pieces, ...breakable(text.slice(end))];
  }
  function breakable(text) { // names as in programs may break after a dot or _, and nowhere else
    return text.split(/([A-Za-z][._]+(?=[A-Za-z]))/).flatMap((piece, place) => place % 2 ? [piece, element("wbr")] : [piece]);
  }
  const countPages = (count) => `${count.toLocaleString("en")} ${count === 1 ? "page" : "pages"}`;
  function describe({ whole, total, meant }, query) {
    if (!total) return `No page has \u201c${query}\u201d.`;
    if (whole) return meant ? `Showing ${countPages(whole)} for \u201c${meant}\u201d; no page has \u201c${query}\u201d.` : countPages(whole);
    return `No page has all of these words${meant ? ` (searched for \u201c${meant}\u201d)` : ""}; ${countPages(total)} ` +
      `${total === 1 ? "has" : "have"} some of them.`;
  }
  function searchBox(place, ...beside) {
    const input = element("input", { type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
      "aria-label": "Search this site", placeholder: "Search this site" });
    const status = element("p", { role: "status", class: "pagekin-status" });
    const list = element("ol", { class: "pagekin-hits" });
    const form = element("form", { role: "search" }, input, ...beside);
    const other = element("p", { class: "pagekin-likely", hidden: "" });
    const more = element("button", { type: "button", class: "pagekin-further", hidden: "" }, "More results");
    let turn = 0, limit = STEP;
    function clear() {
      list.replaceChildren();
      more.hidden = other.hidden = true;
      status.textContent = "";
    }
    async function answer() {
      const mine = ++turn, query = input.value.trim();
      if (!query) { clear(); return; }
      let found;
      try {
        found = await search(input.value, limit);
      } catch (error) {
        if (mine !== turn) return;
        clear();
        status.textContent = location.protocol === "file:"
          ? "Search needs a web server: browsers do not let pages read files."
          : "Search is not available just now. The site may have changed: reload the page.";
        return;
      }
      if (mine !== turn) return; // a later question was asked meanwhile
      const asked = words(found.meant || query);
      status.textContent = describe(found, query);
      const likely = element("button", { type: "button" }, found.likely);
      likely.addEventListener("click", () => { input.value = `${found.likely} `; askAnew(); input.focus(); });
      other.replaceChildren("Did you mean ", likely, "?");
      other.hidden = !found.likely;
      more.hidden = found.hits.length >= found.total;
      const titles = found.hits.map((hit) => hit.title);
      // Of hits with one title, only their paths tell which is which.
      const path = (hit) => titles.filter((title) => title === hit.title).length > 1
        ? [element("small", { class: "pagekin-path" }, hit.path)] : [];
      // Pages that hold only some of the words are not among those that the status counts.
      const border = (rank) => rank && rank === found.whole
        ? [element("li", { class: "pagekin-border" }, "Pages with only some of these words")] : [];
      list.replaceChildren(...found.hits.flatMap((hit, rank) => [...border(rank), element("li", {},
        element("a", { href: hit.url }, ...emphasise(hit.title, asked)), ...path(hit),
        element("p", {}, ...emphasise(hit.text, asked)))]));
    }
    const askAnew = () => { limit = STEP; return answer(); };
    input.addEventListener("input", askAnew);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await askAnew();
      list.querySelector("a")?.focus();
    });
    more.addEventListener("click", async () => {
      const seen = list.querySelectorAll("a").length;
      limit = seen + STEP;
      await answer();
      list.querySelectorAll("a")[seen]?.focus();
    });
    place.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const stops = [input, ...list.querySelectorAll("a"), ...(more.hidden ? [] : [more])];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (next) { event.preventDefault(); next.focus(); }
    });
    place.append(form, status, other, list, more);
    return { input, answer };
  }

  function start() {
    const inline = document.querySelector("[data-pagekin-search]");
    if (inline) {
      const { input, answer } = searchBox(inline);
      input.value = new URLSearchParams(location.search).get("q") || "";
      if (input.value) answer();
      return;
    }
    const button = element("button", { type: "button", class: "pagekin-open", "aria-haspopup": "dialog" }, "Search");
    const close = element("button", { type: "button", class: "pagekin-close" }, "Close");
    const dialog = element("dialog", { class: "pagekin-dialog", "aria-label": "Search this site" });
    const { input } = searchBox(dialog, close);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => { // a search field would take the first Escape for itself
      if (event.key === "Escape") { event.preventDefault(); dialog.close(); }
    });
    const open = () => { if (!dialog.open) dialog.showModal(); input.focus(); input.select(); };
    button.addEventListener("click", open);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    const onKey = (event) => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey &&
        !document.querySelector("input[type=search]:not(.pagekin-dialog input), input[name=q]");
      if (!event.defaultPrevented && (slash || (event.key === "k" && (event.ctrlKey || event.metaKey)))) {
        event.preventDefault();
        open();
      }
    };
    // The last to hear of a key, so that a search of the site's own with the same key comes first.
    const listen = () => window.addEventListener("keydown", onKey);
    if (document.readyState === "complete") listen();
    else window.addEventListener("load", listen);
    document.body.append(button, dialog);
  }
  window.pagekin = { search: async (query, limit) => (await search(query, limit)).hits, stem, words };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
