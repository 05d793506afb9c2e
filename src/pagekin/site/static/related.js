// Related pages of the page that is shown, from the files beside this script. Made by Pagekin.
// The list is put into [data-pagekin-related], or at the end of the content where there is none.
// Other scripts may call: await pagekinRelated("https://docs.example/page.html") -> [{url, path, title, similarity}].
(() => {
  "use strict";
  if (window.pagekinRelated) return;
  const home = new URL(".", document.currentScript.src), root = new URL("..", home).href;
  async function fetchFile(name, options) {
    const answer = await fetch(new URL(name, home), options);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.json();
  }
  // A page may be shown at its folder's address, without its ending, or with a query that does not matter.
  function* spellings(path) {
    const plain = path.split("?")[0], end = plain.endsWith("/") || !plain ? "" : "/";
    yield* [path, plain, `${plain}${end}`, `${plain}${end}index.html`, `${plain}.html`];
    yield* [plain.replace(/index\.html?$/, ""), plain.replace(/\/$/, ""), plain.replace(/\.html?$/, "")];
  }
  async function related(address) {
    const page = new URL(address).href.split("#")[0];
    if (!page.startsWith(root)) return [];
    const { files } = await fetchFile("related.json", { cache: "no-cache" });
    for (const path of new Set(spellings(page.slice(root.length)))) {
      const name = Object.keys(files).findLast((file) => files[file] <= path);
      const found = name && (await load(name)).pages[path];
      if (found) return found.related.map((one) => ({ ...one, url: new URL(relative(one.path), root).href }));
    }
    return [];
  }
  const relative = (path) => (path.startsWith("/") || path.split("/")[0].includes(":") ? `./${path}` : path);
  const loaded = new Map();
  const load = (name) => {
    if (!loaded.has(name)) loaded.set(name, fetchFile(name));
    return loaded.get(name);
  };
  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  async function start() {
    const links = await related(location.href);
    if (!links.length) return;
    const { heading } = await fetchFile("related.json");
    const titles = links.map(({ title }) => title);
    // Of entries with the same title, only their paths say which is which.
    const tellApart = ({ path, title }) => titles.filter((one) => one === title).length > 1
      ? [" ", element("small", { class: "pagekin-path" }, path)] : [];
    const items = links.map((one) => element("li", {}, element("a", { href: one.url }, one.title), ...tellApart(one)));
    const list = element("nav", { class: "pagekin pagekin-related", "aria-label": heading },
      element("p", { class: "pagekin-title" }, heading), element("ul", {}, ...items));
    const named = document.querySelector("[data-pagekin-related]");
    const content = ["[data-pagefind-body]", "main", "[role=main]", "article", "body"].map((one) => document.querySelector(one));
    (named || content.find(Boolean)).append(list);
  }
  window.pagekinRelated = related;
  const run = () => start().catch((error) => console.warn(`Pagekin: no related pages: ${error.message}`));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", run);
  else run();
})();
