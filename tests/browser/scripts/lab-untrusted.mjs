// The lesson with its outputs on another machine, which does not trust them.
import { assert, browse, config, Replay, shot } from "./lib.mjs";
import { drawn, lessonCharts, Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, config.name);
  const cells = await lab.state();
  const charts = lessonCharts(cells);
  assert.equal(charts.length, config.pictures);
  for (const chart of charts) {
    assert.equal(cells[chart.cell].trusted, false, `cell ${chart.cell} is trusted`);
    await lab.scrollTo(chart.cell);
    await drawn(lab.figure(chart.cell), chart);
    if (chart.kind === "replay") await new Replay(lab.figure(chart.cell), chart.frames).stepsByMouseAndKeyboard();
  }
  await shot(lab.page, "lesson-untrusted");
});
