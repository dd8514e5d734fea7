// Lesson 06 as a learner goes through it: run all, see the charts live, move the slider, save, and take
// the stepping page from the menu.
import { copyFileSync, writeFileSync } from "node:fs";
import { assert, browse, config, Replay, shot } from "./lib.mjs";
import { drawn, lessonCharts, Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, config.name);
  await lab.runAll();
  await lab.whenRun();
  const cells = await lab.state();
  for (const [i, cell] of cells.entries()) {
    for (const output of cell.outputs) {
      assert.notEqual(output.output_type, "error", `cell ${i} failed: ${output.ename}: ${output.evalue}\n${cell.source}`);
      assert.notEqual(output.name, "stderr", `cell ${i} says on stderr: ${output.text}`);
    }
    assert.ok(cell.type !== "code" || cell.trusted, `cell ${i} is not trusted`);
  }
  const charts = lessonCharts(cells);
  assert.deepEqual([...new Set(charts.map((c) => c.kind))].sort(), ["cluster", "curve", "replay"]);
  let replays = 0;
  for (const chart of charts) {
    await lab.scrollTo(chart.cell);
    await drawn(lab.figure(chart.cell), chart);
    if (chart.kind === "replay" && replays++ === 0) {
      await shot(lab.page, "lesson-replay");
      await new Replay(lab.figure(chart.cell), chart.frames).stepsByMouseAndKeyboard();
    }
    await shot(lab.page, `lesson-${chart.cell}-${chart.kind}`);
  }
  await lab.save();

  const download = lab.page.waitForEvent("download");
  await lab.menu("File", "Export as stepping HTML");
  copyFileSync(await (await download).path(), config.page);
  writeFileSync(config.expected, JSON.stringify(charts));
  console.log(`${cells.length} cells, ${charts.length} charts`);
});
