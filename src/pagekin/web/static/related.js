// Related pages, from `pagekin export --related-json`:
//   <section data-pagekin-related hidden><h2>Related pages</h2></section>
//   <script src="/kin/related.js" defer></script>
// data-count: how many (5); data-address: of which page (this one).
(() => {
  "use strict";
  const base = new URL("related/", document.currentScript.src);
  const safe = (part, dots) => part.replace(dots ? /[^a-z0-9_.-]|^\./g : /[^a-z0-9_-]/g,
    (c) => "~" + c.charCodeAt().toString(16)) || "~";
  const hash = (text, value) => {
    for (const c of text) value = Math.imul(value ^ c.charCodeAt(), 0x01000193);
    return (value >>> 0).toString(16).padStart(8, "0");
  };
  const file = (at, search) => {
    const parts = at.pathname.split("/"), last = parts.length - 1;
    parts[0] = at.host;
    parts[last] += search;
    const names = parts.map((part, i) => safe(part, !i || i === last)), name = names.join("/"), all = parts.join("/");
    const long = name.length > 400 || names.some((one) => one.length > 120);
    return new URL((long ? "~~" + hash(all, 0x811c9dc5) + hash(all, 0x9747b28c) : name) + ".json", base);
  };
  const fill = async (box) => {
    const own = document.querySelector("link[rel=canonical]") || location;
    const at = new URL(box.dataset.address || own.href);
    for (const search of new Set([at.search, ""])) {
      const answer = await fetch(file(at, search));
      if (!answer.ok) continue;
      const list = document.createElement("ul");
      for (const page of (await answer.json()).related.slice(0, box.dataset.count || 5)) {
        const link = document.createElement("a");
        if (/^https?:/.test(page.url)) link.href = page.url;
        link.textContent = page.title || page.url;
        list.appendChild(document.createElement("li")).append(link);
      }
      box.append(list);
      box.hidden = !list.firstChild;
      return;
    }
  };
  document.querySelectorAll("[data-pagekin-related]").forEach((box) => fill(box).catch(() => {}));
})();
