// What is wrong with the page, as a list of {Rule, Help, At}: what axe-core says, and what it does not look for.
(async () => {
  const faults = [];
  const add = (Rule, Help, elements) => {
    if (elements.length) faults.push({Rule, Help, At: elements});
  };
  const shown = (el, more = "") => el.outerHTML.replace(/\s+/g, " ").slice(0, 160) + more;
  const all = (css) => [...document.querySelectorAll(css)].filter((el) => {
    const r = el.getBoundingClientRect();
    return el.checkVisibility({visibilityProperty: true, opacityProperty: true}) && r.width > 1 && r.height > 1 && r.right > 0;
  });

  const report = await axe.run(document, {resultTypes: ["violations"]});
  for (const v of report.violations) add(v.id, v.help, v.nodes.map((n) => n.html.slice(0, 200) + " " + n.any.map((c) => c.message).join("; ")));

  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    add("sideways", `the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}`,
      all("body *").filter((el) => el.getBoundingClientRect().right > root.clientWidth + 1).slice(-3).map((el) => shown(el)));
  }

  // A target is as large as what a finger can hit to mean it: with its label, and with an ::after that covers what is around.
  const target = (el) => {
    const boxes = [el.getBoundingClientRect()];
    const after = getComputedStyle(el, "::after");
    if (after.content !== "none" && after.position === "absolute" && after.top === "0px" && after.bottom === "0px") {
      let around = el;
      while (around && getComputedStyle(around).position === "static") around = around.parentElement;
      if (around) boxes.push(around.getBoundingClientRect());
    }
    for (const label of el.labels ?? []) boxes.push(label.getBoundingClientRect());
    return {width: Math.max(...boxes.map((b) => b.width)), height: Math.max(...boxes.map((b) => b.height))};
  };
  // A link within a sentence is as high as the line (WCAG 2.5.8 leaves it out, too).
  const inSentence = (el) => el.matches("a") && getComputedStyle(el).display === "inline" && !el.querySelector(":scope::after") &&
    [...el.parentElement.childNodes].some((n) => n !== el && n.textContent.trim().length > 1);
  const over = document.querySelector("dialog:modal"); // nothing beside it can be used
  const usable = all("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0'], [role=button]")
    .filter((el) => !over || over.contains(el));
  add("target-44", "a target is at least 44 px wide and high", usable.filter((el) => !inSentence(el)).flatMap((el) => {
    const {width, height} = target(el);
    return width < 43.5 || height < 43.5 ? [shown(el, ` ${Math.round(width)} × ${Math.round(height)}`)] : [];
  }));

  axe.setup(document.body);
  add("name", "what can be used has a name", usable.filter((el) => !axe.commons.text.accessibleText(el).trim()).map((el) => shown(el)));
  axe.teardown();

  const small = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = texts.nextNode(); n; n = texts.nextNode()) {
    const el = n.parentElement;
    if (n.textContent.trim() && el.checkVisibility() && !el.closest("script, style, noscript, .quiet") &&
      parseFloat(getComputedStyle(el).fontSize) < 13.99) small.add(el);
  }
  add("text-14", "text is at least 14 px high", [...small].map((el) => shown(el, " " + getComputedStyle(el).fontSize)));
  return faults;
})()
