// The exported page for everybody: valid HTML, no violation that axe-core finds in light and dark, wide and narrow,
// every control by keyboard, no motion of its own.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { HtmlValidate } from "html-validate";
import { assert, browse, config, eventually, watch } from "./lib.mjs";

const report = await new HtmlValidate({ extends: ["html-validate:standard"], elements: ["html5"] }).validateString(readFileSync(fileURLToPath(config.page), "utf8"));
const messages = report.results.flatMap((r) => r.messages).map((m) => `${m.ruleId} at ${m.line}:${m.column}: ${m.message}`);
assert.deepEqual(messages, [], "the page is not valid HTML");

await browse(async (browser) => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1400, 400]) {
      const page = await (await browser.newContext({ offline: true, colorScheme, reducedMotion: "reduce", viewport: { width, height: 900 } })).newPage();
      const wrong = watch(page, { allowed: (url) => url === config.page });
      await page.goto(config.page);
      for (const chart of await page.locator(".chart").all()) await chart.scrollIntoViewIfNeeded();
      await eventually("all charts", async () => assert.equal(await page.locator(".chart > img:visible").count(), 0), 20000);
      await page.evaluate(axe.source);
      const found = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      const violations = found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.any.map((a) => a.message).join("; ")}`).join(" | ")} (${v.nodes.length})`);
      assert.deepEqual(violations, [], `${colorScheme}, ${width} px`);
      assert.ok(found.passes.length > 20, `axe looked at ${found.passes.length} rules only`);
      const moving = await page.evaluate(() => document.getAnimations().length);
      assert.equal(moving, 0, "something moves by itself");
      assert.deepEqual(wrong, []);
      await page.context().close();
    }
  }

  // Tab reaches the contents, the fold, and every control of the first figure that steps.
  const page = await browser.newPage({ viewport: { width: 1040, height: 900 } });
  await page.goto(config.page);
  const figure = page.locator(".kafkalab-chart:has(.kafkalab-controls)").first();
  await page.locator(".chart").nth(1).scrollIntoViewIfNeeded();
  await eventually("a figure that steps", async () => assert.ok((await figure.count()) === 1));
  const want = new Set(await figure.locator("button, input, select").evaluateAll((all) => all.map((e) => e.getAttribute("aria-label"))));
  assert.equal(want.size, 9);
  for (let i = 0; i < 120 && want.size; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    want.delete(at);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(outline, "none", `the focus on ${at} cannot be seen`);
  }
  assert.deepEqual([...want], [], "controls that Tab does not reach");

  // A picture that is wider than a narrow window says so, is scrolled by keyboard, shows its focus, and is read whole.
  const narrow = await browser.newPage({ viewport: { width: 400, height: 800 } });
  await narrow.goto(config.page);
  for (const chart of await narrow.locator(".chart").all()) await chart.scrollIntoViewIfNeeded();
  const wide = narrow.locator(".kafkalab-scrolls .kafkalab-picture");
  await eventually("pictures that scroll", async () => assert.ok((await wide.count()) >= 6, `${await wide.count()} scroll`));
  for (const [i, picture] of (await wide.all()).entries()) {
    await picture.scrollIntoViewIfNeeded();
    await picture.focus();
    const at = () => picture.evaluate((e) => e.scrollLeft);
    assert.equal(await at(), 0);
    await narrow.keyboard.press("ArrowRight");
    await eventually(`picture ${i} scrolls`, async () => assert.ok((await at()) > 0));
    assert.equal(await picture.evaluate((e) => getComputedStyle(e).outlineStyle), "solid", "the focus cannot be seen");
    assert.match(await picture.evaluate((e) => e.previousElementSibling.textContent), /scroll sideways/);
    const hidden = await picture.evaluate((e) => e.scrollHeight - e.clientHeight);
    assert.ok(hidden <= 1, `${hidden} px of picture ${i} are below its edge`);
  }

  // On paper nothing is cut, and what only a screen can do is not there.
  await narrow.emulateMedia({ media: "print" });
  const onPaper = (width) => { // before the figures hear of the new width, as a printer does it
    document.body.style.width = `${width}px`;
    const cut = [];
    for (const figure of document.querySelectorAll(".kafkalab-chart")) {
      const around = figure.getBoundingClientRect();
      for (const made of figure.querySelectorAll("svg")) {
        const box = made.getBoundingClientRect();
        if (box.width && (box.right > around.right + 1 || box.bottom > around.bottom + 1)) cut.push(`${figure.getAttribute("aria-label").slice(0, 40)}: ${box.right} > ${around.right} or ${box.bottom} > ${around.bottom}`);
      }
    }
    const shown = [...document.querySelectorAll(".kafkalab-controls, .kafkalab-hint")].filter((e) => e.offsetHeight).length;
    document.body.style.width = "";
    return { cut, shown };
  };
  assert.deepEqual(await narrow.evaluate(onPaper, 360), { cut: [], shown: 0 }, "from a narrow window");
  await page.emulateMedia({ media: "print" });
  for (const chart of await page.locator(".chart").all()) await chart.scrollIntoViewIfNeeded();
  await eventually("all charts", async () => assert.equal(await page.locator(".chart > img:visible").count(), 0), 20000);
  assert.deepEqual(await page.evaluate(onPaper, 700), { cut: [], shown: 0 }, "from a wide window");
  await page.emulateMedia({ media: "screen" });

  // The fold folds all code.
  await page.getByRole("button", { name: "Fold all code" }).click();
  assert.equal(await page.locator("details.code[open]").count(), 0);
  await page.getByRole("button", { name: "Show all code" }).click();
  assert.ok((await page.locator("details.code[open]").count()) > 3);
});
