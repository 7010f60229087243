// The page also works without this script, which only saves page loads and adds keyboard shortcuts.
"use strict";

const at = (id) => document.getElementById(id);
const links = () => [...document.querySelectorAll("a[data-hit]")];
// Parameters that select the open source, not the passages.
const ABOUT_SOURCE = ["open", "mark", "at"];
let shown = location.href;
let turn = 0;

function withoutSource(address) {
  const url = new URL(address);
  ABOUT_SOURCE.forEach((name) => url.searchParams.delete(name));
  return url.pathname + url.search;
}

async function load(address) {
  const number = ++turn;
  document.body.classList.add("busy");
  at("results").setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    const text = await response.text();
    return number === turn ? new DOMParser().parseFromString(text, "text/html") : null;
  } finally {
    if (number === turn) {
      document.body.classList.remove("busy");
      at("results").removeAttribute("aria-busy");
    }
  }
}

// Shows an address; loads only the source if nothing else differs.
async function go(address, { push = true, focus = true } = {}) {
  const url = new URL(address);
  const isSame = withoutSource(address) === withoutSource(shown);
  const isOpen = url.searchParams.has("open");
  let fresh = null;
  try {
    if (!isSame || isOpen) fresh = await load((isSame ? "/source" : "/") + url.search);
    if (!fresh && (!isSame || isOpen)) return;
  } catch {
    location.assign(address); // Let the browser report that the server is gone.
    return;
  }
  if (push) history.pushState(null, "", address);
  const before = shown;
  const top = isSame ? Math.max(window.scrollY, at("results").scrollTop) : 0;
  shown = address;
  if (isSame) {
    at("beside").replaceChildren(...(fresh ? fresh.body.childNodes : []));
    document.body.classList.toggle("opened", isOpen);
  } else {
    replace(fresh);
  }
  carryScroll(top);
  current(url.searchParams.get("open"));
  at("status").textContent = isSame ? (isOpen ? `Source: ${at("source-title").textContent}` : "") : fresh.getElementById("status").textContent;
  settle(isSame, isOpen, focus, before);
}

// Beside a source the passages scroll on their own, otherwise with the page.
function carryScroll(top) {
  at("results").scrollTop = top;
  if (getComputedStyle(at("results")).display !== "none") window.scrollTo(0, top);
}

function replace(fresh) {
  for (const id of ["results", "beside"]) at(id).replaceChildren(...fresh.getElementById(id).childNodes);
  const filters = document.querySelector(".filters");
  filters.replaceWith(fresh.querySelector(".filters"));
  document.body.className = fresh.body.className;
  document.title = fresh.title;
  at("q").value = fresh.getElementById("q").value;
}

function settle(isSame, isOpen, focus, before) {
  if (isOpen) {
    toPlace();
    if (focus) at("source-title").focus({ preventScroll: true });
  } else if (isSame) {
    const was = new URL(before).searchParams.get("open");
    const link = links().find((candidate) => opens(candidate) === was);
    if (link && focus) link.focus();
  } else if (focus) {
    at("results").focus({ preventScroll: true });
  }
}

const opens = (link) => new URL(link.href).searchParams.get("open");

function current(place) {
  for (const link of links()) {
    const isCurrent = place !== null && opens(link) === place;
    link.closest("li").classList.toggle("current", isCurrent);
    if (isCurrent) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function toPlace() {
  const body = document.querySelector("#beside .body");
  const place = at("place") || document.querySelector("#beside .passage");
  if (!body) return;
  if (matchMedia("(min-width: 64rem)").matches) {
    // Beside the passages, scroll only the source.
    const box = place && place.getBoundingClientRect();
    const frame = body.getBoundingClientRect();
    body.scrollTop += place ? box.top - frame.top - Math.max(0, (frame.height - box.height) / 3) : -body.scrollTop;
    body.scrollLeft += place && box.right > frame.right ? box.left - frame.left - 40 : 0;
  } else if (place) {
    place.scrollIntoView({ block: "center", inline: "nearest" });
  } else {
    window.scrollTo(0, 0);
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.target || link.origin !== location.origin || link.pathname !== "/" || link.closest(".skip")) return;
  event.preventDefault();
  go(link.href);
});

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = [...new FormData(event.target)].filter(([, value]) => String(value).trim());
  go(`${location.origin}/?${new URLSearchParams(fields)}`);
});

window.addEventListener("popstate", () => go(location.href, { push: false, focus: false }));

function step(by) {
  const all = links();
  if (!all.length) return false;
  const now = all.findIndex((link) => link.closest("li").contains(document.activeElement));
  const next = now < 0 ? (by > 0 ? 0 : -1) : now + by;
  if (next < 0) at("q").focus();
  else if (next < all.length) all[next].focus();
  return true;
}

function escape() {
  const filters = document.querySelector(".filters[open]");
  if (filters) {
    filters.open = false;
    filters.querySelector("summary").focus();
    return;
  }
  const close = document.querySelector("a[data-close]");
  if (close) go(close.href);
  else if (document.activeElement !== document.body) document.activeElement.blur();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  const types = target.closest("input, select, textarea");
  const scrolls = target.closest(".body") || target.closest(".filters");
  if (event.key === "/" && !types) {
    at("q").focus();
    at("q").select();
  } else if (event.key === "Escape") {
    escape();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (!types || target.id === "q") && !scrolls) {
    if (!step(event.key === "ArrowDown" ? 1 : -1)) return;
  } else {
    return;
  }
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const filters = document.querySelector(".filters[open]");
  if (filters && !filters.contains(event.target)) filters.open = false;
});

if (new URL(location.href).searchParams.has("open")) {
  toPlace();
}
document.documentElement.dataset.ready = "yes";
