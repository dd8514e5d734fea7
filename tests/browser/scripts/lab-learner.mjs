// A lesson as a learner does it: a wrong prediction, its run, a task with a hint, a right answer, a restart, and on from
// where one was.
import { assert, browse, config, eventually, shot } from "./lib.mjs";
import { Lab } from "./lab.mjs";

const textOf = (cell) => cell.outputs.map((o) => o.text ?? o.data?.["text/plain"] ?? `${o.ename}: ${o.evalue}`).join("\n");

class Learner extends Lab {
  async find(call) {
    const cells = await this.state();
    const i = cells.findIndex((c) => c.type === "code" && c.source.includes(call));
    assert.notEqual(i, -1, `no cell with ${call}`);
    return i;
  }

  // run runs a cell, with another text if one is given, and gives what it says.
  async run(i, source) {
    await this.page.evaluate(([i, source]) => {
      const { content } = window.jupyterapp.shell.currentWidget;
      content.activeCellIndex = i;
      content.deselectAll();
      if (source !== null) content.activeCell.model.sharedModel.setSource(source);
      void window.jupyterapp.commands.execute("notebook:run-cell");
    }, [i, source ?? null]);
    await this.whenRun();
    return textOf((await this.state())[i]);
  }

  async runAbove(i) {
    await this.page.evaluate((i) => {
      window.jupyterapp.shell.currentWidget.content.activeCellIndex = i;
      void window.jupyterapp.commands.execute("notebook:run-all-above");
    }, i);
    await this.whenRun();
  }
}

await browse(async (browser) => {
  const lab = Object.setPrototypeOf(await Lab.open(browser, config.name), Learner.prototype);
  const { predict, wrong, task, solution } = config;

  // Predict wrongly, then run.
  const asked = await lab.find(`lesson.Predict("${predict}"`);
  await lab.runAbove(asked);
  const question = await lab.run(asked);
  assert.match(question, /Not attempted/);
  assert.match(await lab.run(asked, `lesson.Predict("${predict}", ${JSON.stringify(wrong)})`), /Locked in/);
  const reveal = await lab.find(`lesson.Reveal("${predict}"`);
  for (let i = asked + 1; i < reveal; i++) {
    if ((await lab.state())[i].type === "code") await lab.run(i);
  }
  const verdict = await lab.run(reveal);
  assert.match(verdict, /Incorrect\. You predicted/);
  assert.match(await lab.run(asked, `lesson.Predict("${predict}", "?")`), /Your prediction was/);
  await lab.scrollTo(reveal);
  await shot(lab.page, `learner-${config.lesson}-predicted`);

  // A task: as it starts, a hint, and solved.
  const work = await lab.find(`lesson.Check("${task}"`);
  const first = await lab.run(work);
  assert.match(first, /Not attempted|Incorrect/);
  assert.match(await lab.run(work, `lesson.Hint("${task}")`), /Hint 1 of/);
  assert.match(await lab.run(work, solution), /Correct/);
  await lab.scrollTo(work);
  await shot(lab.page, `learner-${config.lesson}-solved`);
  await lab.save();

  // Restart, and go on.
  await lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar").locator("[data-command='notebook:restart-kernel'], [title^='Restart the kernel']").first().click();
  await (await lab.dialog()).locator("button.jp-mod-accept").click();
  await lab.page.waitForTimeout(1000);
  await lab.whenReady();
  const begin = await lab.find("lesson.Begin(");
  const overview = await lab.run(begin);
  assert.match(overview, /predictions: 1 of \d+ tried, 0 correct/);
  assert.match(overview, /tasks: 1 of \d+ tried, 1 correct/);
  await lab.scrollTo(begin);
  await shot(lab.page, `learner-${config.lesson}-again`);
  console.log(`${verdict.split("\n").find((l) => l.includes("Incorrect"))}`);
});
