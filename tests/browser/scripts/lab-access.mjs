// Charts in JupyterLab's outputs for everybody: no violation that axe-core finds in light and dark, nothing that
// moves by itself, a focus that can be seen.
import axe from "axe-core";
import { assert, browse, config } from "./lib.mjs";
import { drawn, Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, "saved.ipynb", { reducedMotion: "reduce" });
  for (const theme of ["JupyterLab Light", "JupyterLab Dark"]) {
    await lab.setTheme(theme);
    await lab.page.waitForTimeout(500);
    await lab.page.evaluate(axe.source);
    let looked = 0;
    for (let i = 0; i < config.charts.length; i++) {
      await lab.scrollTo(i);
      await drawn(lab.figure(i), config.charts[i]);
      // JupyterLab's own page is not ours to judge: the figure alone, with what lies behind it.
      const found = await lab.figure(i).evaluate((figure) => axe.run(figure, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      const violations = found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.any.map((a) => a.message).join("; ")}`).join(" | ")} (${v.nodes.length})`);
      assert.deepEqual(violations, [], `${config.charts[i].name}, ${theme}`);
      looked += found.passes.length;
    }
    assert.ok(looked > 2 * config.charts.length, `axe looked at ${looked} rules only`);
    const moving = await lab.page.evaluate(() => document.getAnimations().filter((a) => a.effect?.target?.closest(".kafkalab-chart")).length);
    assert.equal(moving, 0, "something moves by itself");
  }
  // Tab goes from control to control of a figure, and each shows that it has the focus.
  const steps = config.charts.findIndex((c) => c.kind === "replay");
  await lab.scrollTo(steps);
  await lab.figure(steps).focus();
  for (const control of await lab.figure(steps).locator("button, select, input").all()) {
    await lab.page.keyboard.press("Tab");
    const name = await control.getAttribute("aria-label");
    assert.ok(await control.evaluate((e) => e === document.activeElement), `Tab does not come to ${name}`);
    assert.notEqual(await control.evaluate((e) => getComputedStyle(e).outlineStyle), "none", `the focus on ${name} cannot be seen`);
  }
});
