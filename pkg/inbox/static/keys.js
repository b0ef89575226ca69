// Keys that move, open and answer, and buttons that copy. Every page works without them.
const $ = (css, from = document) => from.querySelector(css);
const $$ = (css, from = document) => [...from.querySelectorAll(css)];
const article = $("article[data-id]"), desk = $(".desk"), word = $("#says")?.dataset || {};
const mouse = matchMedia("(any-hover: hover) and (any-pointer: fine)").matches; // where there is one, there are keys
if (mouse) document.documentElement.dataset.keys = "";
const rows = () => $$(article ? ".list .row" : ".desk .row:not(.gone)");

// The row that keys mean is marked, and stays the same one however the list changes.
let on = null, index = 0, moved = -400;
const choose = (row, focus) => {
  on?.classList.remove("on");
  on = row || null;
  if (!row) return;
  index = rows().indexOf(row);
  row.classList.add("on");
  if (focus) $("h3 a", row).focus();
};
const check = () => {
  if (on?.isConnected && !on.matches(".gone")) { index = rows().indexOf(on); return; }
  const at = document.activeElement, focus = on?.contains(at) && !at.matches("textarea"), left = rows();
  moved = performance.now();
  choose(left[Math.min(index, left.length - 1)], focus);
};
if (desk) {
  if (mouse) choose(rows()[0]);
  new MutationObserver(check).observe(desk, {childList: true, subtree: true, attributeFilter: ["class"]});
  for (const type of ["focusin", "pointerdown"]) {
    desk.addEventListener(type, (e) => { const row = e.target.closest(".row:not(.gone)"); if (row && row !== on) choose(row); });
  }
}

const scope = () => article ? $("main") : on;
const open = () => on && $("h3 a", on).click();
const move = (by) => {
  const all = rows(), at = article ? all.findIndex((r) => r.matches(".current")) : index;
  const row = all[!article && !on?.contains(document.activeElement) ? at : Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!article) { moved = -400; choose(row, true); } else if (row && !row.matches(".current")) $("h3 a", row).click();
};
const answer = (n) => {
  const button = scope() && $$('button[value^="option:"]', scope())[n - 1];
  if (!button || button.disabled || performance.now() - moved < 400) return;
  const {top} = button.getBoundingClientRect();
  if (top < 0 || top > innerHeight - 20) button.scrollIntoView({block: "center"}); else button.click();
};
const write = (name, hint) => {
  const from = scope();
  if (!from) return;
  const field = $(`textarea[name=${name}]`, from) || article && name === "other" && $("#form :is(input:not([type=hidden]), select, textarea)");
  if (!field || field.readOnly) { if (!article) open(); return; }
  const details = field.closest("details") || !article && $("details.words", from);
  if (details) details.open = true;
  field.focus();
  const confirm = hint && $(".confirm", field.parentNode);
  if (confirm) confirm.hidden = false;
};

// What is shown of keys is the page about them, over this one.
const help = async () => {
  let box = $("#help");
  if (!box) {
    const text = await (await fetch($("a.keys").href)).text(), main = $("main", new DOMParser().parseFromString(text, "text/html"));
    if (!main) return;
    box = document.createElement("dialog");
    box.id = "help";
    box.setAttribute("aria-labelledby", "keys");
    const close = document.createElement("button");
    close.textContent = word.close || "×";
    close.addEventListener("click", () => box.close());
    $(".leave", main).replaceChildren(close);
    box.append(...main.children);
    document.body.append(box);
  }
  box.showModal();
};
$("a.keys")?.addEventListener("click", (e) => { if (!e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); help(); } });

const inField = (e) => {
  const field = e.target, confirm = $(".confirm:not([hidden])", field.parentNode);
  const press = (value) => { const b = $(`button[value=${value}]`, scope()); if (b && !b.disabled) { e.preventDefault(); b.click(); } };
  if (e.key === "Escape") {
    if (confirm) confirm.hidden = true;
    field.blur();
    if (on && !article) $("h3 a", on).focus();
  } else if (e.key === "Enter" && field.name === "other" && (e.ctrlKey || e.metaKey)) press("other");
  else if (e.key === "Enter" && confirm && !e.shiftKey) { press("decline"); press("dismiss"); }
};
const does = {
  j: () => move(1), k: () => move(-1), o: open, u: () => { if (article) $(".mark").click(); },
  e: () => write("other"), x: () => write("comment", true), "?": () => { if ($("a.keys")) help(); },
  Enter: () => { if (document.activeElement === document.body) open(); },
};
addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.isComposing || !e.target.closest || $("dialog[open]")) return;
  if (e.target.closest("textarea")) return inField(e);
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, [contenteditable]")) return;
  const act = /^[1-9]$/.test(e.key) ? () => { if (!e.repeat) answer(+e.key); } : does[e.key];
  if (!act) return;
  if (e.key !== "Enter") e.preventDefault();
  act();
});

for (const button of $$("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText($("#" + button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
  });
}
