// What makes the pages live and lets keys answer. Every page works without it.
const $ = (css, from = document) => from.querySelector(css);
const $$ = (css, from = document) => [...from.querySelectorAll(css)];
const page = document.documentElement, data = document.body.dataset;
const says = $("#says"), word = says ? says.dataset : {}, article = $("article[data-id]");
const fill = (text, what) => text.replace(/%[sd]/, () => what);
const words = (el) => el ? el.textContent.trim() : "";
const parse = (text) => new DOMParser().parseFromString(text, "text/html");
const say = (text) => { if (says) says.textContent = text; };
const note = (kind, text) => Object.assign(document.createElement("p"), {className: kind, textContent: text});

// Time goes on: what the server said of it is counted on, by its clock.
const times = JSON.parse(data.times || "[]"), asOf = $("time[data-t=now]");
const ahead = asOf ? Date.parse(asOf.dateTime) - Date.now() : 0;
const span = (s) => {
  const m = Math.floor(s / 60), h = Math.floor(m / 60), say = (i, ...n) => n.reduce(fill, times[i]);
  return s < 60 ? say(0, Math.max(0, Math.floor(s))) : h < 1 ? say(1, m) : h >= 48 ? say(4, Math.floor(h / 24)) :
    h < 3 && m % 60 ? say(3, h, m % 60) : say(2, h);
};
const tick = () => {
  for (const t of $$("time[data-t=ago], time[data-t=left]")) {
    const left = (Date.parse(t.dateTime) - Date.now() - ahead) / 1000, fate = t.closest(".fate, .bar");
    const text = t.dataset.t === "left" ? span(left) : left > -10 ? times[5] : left > -604800 ? fill(times[6], span(-left)) : "";
    if (text && t.textContent !== text) t.textContent = text;
    if (t.dataset.t === "left" && fate) {
      fate.classList.toggle("now", left < 120);
      fate.classList.toggle("soon", left >= 120 && left < 900);
    }
  }
};

// Where the pointer or a finger is. What is there does not move because of others.
let x = -1, y = 0, finger = 0, moved;
const point = (e) => { x = e.clientX; y = e.clientY; finger = e.pointerType === "mouse" ? Infinity : e.timeStamp; };
for (const type of ["pointermove", "pointerdown"]) addEventListener(type, point, {passive: true});
page.addEventListener("pointerleave", () => { x = -1; });
const under = () => x < 0 || performance.now() - finger > 900 ? null : document.elementFromPoint(x, y);

// An update takes over what differs between the page and a fresh one.
let latest;
const ended = new Set();
const plain = (el) => el.innerHTML.replace(/(<time[^>]*>)[^<]*/g, "$1");
const typed = (el) => $$("textarea", el).some((t) => t.value) ||
  $$("input[type=text], input[type=url]", el).some((t) => t.value !== t.defaultValue);
const update = (fresh) => {
  latest = fresh;
  document.title = fresh.title;
  const held = under(), rows = $$(".row:not(.gone)"), before = new Set(rows.map((r) => r.dataset.id));
  const anchor = scrollY > 0 && (held?.closest(".row") || rows.find((r) => r.getBoundingClientRect().top >= 0));
  const was = anchor && anchor.getBoundingClientRect().top;
  for (const here of $$("[data-live]")) {
    const next = $(`[data-live=${here.dataset.live}]`, fresh);
    if (!next) continue;
    const list = $(".rows", here);
    if (list) rowsOf(list, $(".rows", next), held);
    if ($(".row", here) && (list || here.contains(held)) || plain(here) === plain(next)) continue;
    if (!$(".row", next) && (typed(here) || $("[aria-invalid]", here))) continue; // what is wrong with it stays, too
    if (here.contains(held) || here.contains(document.activeElement) && document.activeElement !== document.body) continue;
    here.replaceChildren(...document.importNode(next, true).childNodes);
  }
  if (anchor && anchor.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - was);
  if (article) story($("article", fresh));
  const news = $$("[data-live=yours] .row").filter((r) => !before.has(r.dataset.id) && !ended.has(r.dataset.id));
  if (news.length) say(news.length > 1 ? fill(word.many, news.length) : fill(word.new, words($("h3", news[0]))));
  tick();
};

// Rows come and go. Those above the pointer only say that they have ended, and new ones come below it.
const rowsOf = (list, next, held) => {
  const wanted = $$(":scope > .row", next || document.createElement("ul")).filter((r) => !ended.has(r.dataset.id));
  const ids = new Set(wanted.map((r) => r.dataset.id)), known = {};
  const row = held && list.closest(".desk, .list")?.contains(held) && held.closest(".row");
  for (const r of $$(":scope > .row", list)) {
    known[r.dataset.id] = r;
    if (ids.has(r.dataset.id) || r.matches(".gone") || r.ariaBusy) continue; // one that is being answered is told what came of it
    leave(r, words($(`[data-id="${r.dataset.id}"] .gone`, latest)) || word.gone,
      row && (r === row || r.compareDocumentPosition(row) & 4) || r.contains(document.activeElement) || typed(r));
  }
  let at = list.firstElementChild, after = row;
  for (const w of wanted) {
    while (at?.matches(".gone")) at = at.nextElementSibling;
    const r = known[w.dataset.id] || document.importNode(w, true);
    if (r === at) { at = at.nextElementSibling; continue; }
    if (row && list.contains(row) && (!at || !(row.compareDocumentPosition(at) & 4))) {
      if (!r.isConnected) { after.after(r); after = r; }
    } else if (!row || list.contains(row) || row.compareDocumentPosition(list) & 4) {
      const focus = document.activeElement;
      list.insertBefore(r, at);
      if (r.contains(focus)) focus.focus({preventScroll: true});
    }
  }
};

// A row that has ended says so where it stays, and goes with the next tap elsewhere.
const leave = (row, text, stays) => {
  if (article && row.dataset.id === article.dataset.id) return;
  ended.add(row.dataset.id);
  say(text + " " + words($("h3", row)));
  if (!stays) return row.remove();
  const at = document.activeElement, focus = row.contains(at) && !(at.matches("textarea") && at.value);
  if (typed(row)) text += " " + word.unsent;
  for (const t of $$("textarea", row)) t.readOnly = true;
  row.classList.add("gone");
  ($(".quick", row) || row).prepend(note("verdict", text));
  if (focus) $("h3 a", row).focus({preventScroll: true});
};
const release = (but) => {
  const gone = $$(".row.gone").filter((r) => r !== but && !typed(r));
  for (const r of gone) r.remove();
  if (gone.length) {
    page.dataset.moved = "";
    clearTimeout(moved);
    moved = setTimeout(() => { delete page.dataset.moved; }, 350);
  }
  if (latest) update(latest);
};
addEventListener("click", (e) => {
  if (e.isTrusted && e.detail && "moved" in page.dataset && e.target.closest(".row button")) {
    e.preventDefault(); // the row came there this moment
  } else setTimeout(release, 0, e.target.closest?.(".row"));
}, true);
$(".desk")?.addEventListener("pointerleave", () => latest && setTimeout(update, 0, latest));

// The open message.
const story = (fresh) => {
  const end = fresh?.dataset.ended;
  if (!end || article.dataset.ended) return;
  article.dataset.ended = end;
  const answer = $$("#answer, #form"), bar = $(".bar", article);
  const text = answer.some(typed) ? end + " " + word.unsent : end;
  for (const part of answer) {
    for (const c of $$("button, select, input:not([type=hidden])", part)) c.disabled = true;
    for (const c of $$("textarea", part)) c.readOnly = true;
  }
  if (bar) { bar.textContent = end; bar.className = "bar"; }
  ($("#answer .decline") || $("#form .actions") || answer[0])?.replaceChildren(note("verdict", text));
  say(text);
};

// An answer from the list: the row says what came of it, in its place.
addEventListener("submit", async (e) => {
  const form = e.target, row = form.closest(".row"), button = e.submitter;
  if (!row || !button || !data.look) return;
  e.preventDefault();
  if (row.ariaBusy) return;
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  row.ariaBusy = "true";
  $(".wrong", form)?.remove();
  let text = word.failed;
  try {
    const r = await fetch(form.action, {method: "POST", body}), fresh = parse(await r.text());
    const done = $(".notice span", fresh);
    text = words(done || $(".wrong, [role=alert], .narrow > p", fresh)) || words($("h1", fresh));
    if (r.ok || r.status === 409) {
      if (done) for (const t of $$("textarea", row)) t.value = "";
      leave(row, text, true);
      return done && !data.look.includes("from=") ? update(fresh) : look(); // what came has the first rows
    }
  } catch { /* text says so */ } finally { row.ariaBusy = null; }
  form.append(note("wrong", text));
  say(text);
});

// Looking again: when the stream rings, or now and then.
let etag = "", looking, again, failures = 0, timer, source, beat = 0, quiet = 0, good = new Date();
const state = (name) => { page.dataset.live = name; };
const look = async () => {
  if (looking) { again = true; return; }
  looking = true;
  clearTimeout(timer);
  try {
    const r = await fetch(data.look, {cache: "no-store", headers: etag ? {"If-None-Match": etag} : {}});
    if (r.status === 401) return out();
    if (r.status === 200) { etag = r.headers.get("ETag"); quiet = 0; update(parse(await r.text())); }
    else if (r.status === 304) quiet++;
    else throw r;
    failures = 0;
    good = new Date();
    state("on");
  } catch {
    failures++;
    state("lost");
    if (asOf) asOf.textContent = good.toLocaleTimeString();
  }
  looking = false;
  if (again) { again = false; look(); } else later();
};
const out = () => { source?.close(); state("lost"); data.look = ""; if (!typed(document)) location.reload(); };
const later = () => {
  if (source || !data.look) return;
  const seconds = failures ? 2 ** Math.min(failures, 6) : document.hidden ? 60 : quiet > 60 ? 15 : 4;
  timer = setTimeout(data.events && failures ? listen : look, seconds * 1000 * (0.75 + Math.random() / 2));
};
const listen = () => {
  source = new EventSource(data.events);
  beat = Date.now();
  const lost = () => { source?.close(); source = null; failures++; look(); };
  source.addEventListener("look", () => { beat = Date.now(); look(); });
  source.addEventListener("beat", () => { beat = Date.now(); });
  source.addEventListener("out", out);
  source.addEventListener("full", () => { data.events = ""; lost(); });
  source.onerror = lost;
};
if (data.look) {
  if (data.events) listen(); else later();
  setInterval(() => { tick(); if (source && Date.now() - beat > 40000) source.onerror(); }, 1000);
  for (const type of ["online", "pageshow", "visibilitychange"]) {
    addEventListener(type, (e) => { if (!document.hidden && (e.persisted ?? true)) look(); }, true);
  }
}
