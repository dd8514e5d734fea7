// An endless loop is stopped by the stop button, and what the cells made before is still there; a restart
// makes it go.
import { assert, browse, config, eventually, shot } from "./lib.mjs";
import { Lab } from "./lab.mjs";

const textOf = (cell) => cell.outputs.map((o) => o.text ?? o.data?.["text/plain"] ?? `${o.ename}: ${o.evalue}`).join("\n");

await browse(async (browser) => {
  const lab = await Lab.open(browser, config.name);
  await lab.runAll();
  await lab.whenRun();
  const ask = async (source) => {
    const i = await lab.addCell(source);
    await lab.whenRun();
    return (await lab.state())[i];
  };
  const before = textOf(await ask("c.Partition(\"orders\", 0)"));
  assert.match(before, /orders-0/);

  const loop = await lab.addCell("for {}");
  await eventually("the loop", async () => assert.match(await lab.prompt(loop), /\*/));
  await lab.page.waitForTimeout(1000);
  assert.match(await lab.prompt(loop), /\*/, "the loop came to an end by itself");
  const pressed = Date.now();
  await lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar").locator("[data-command='notebook:interrupt-kernel'], [title^='Interrupt']").first().click();
  await lab.whenRun(10000);
  console.log(`stopped ${Date.now() - pressed} ms after the click`);
  const stopped = (await lab.state())[loop];
  assert.equal(stopped.outputs.length, 1);
  assert.equal(stopped.outputs[0].output_type, "error");
  console.log(`the cell says: ${textOf(stopped)}`);
  await lab.scrollTo(loop);
  await shot(lab.page, "lesson-stopped");
  assert.equal(textOf(await ask("c.Partition(\"orders\", 0)")), before, "the state after the stop");

  await lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar").locator("[data-command='notebook:restart-kernel'], [title^='Restart the kernel']").first().click();
  await (await lab.dialog()).locator("button.jp-mod-accept").click();
  await lab.page.waitForTimeout(1000);
  await lab.whenReady();
  const gone = await ask("c.Now()");
  assert.equal(gone.outputs[0]?.output_type, "error", "c survived a restart");
  console.log(`after the restart: ${textOf(gone)}`);
  const again = await ask("c := kafkasim.Page()\nc.Partition(\"orders\", 0)");
  assert.match(textOf(again), /orders-0 +leader 1, leader epoch 0/);
  await shot(lab.page, "lesson-restarted");
});
