// JupyterLab as a person uses it.
import { assert, config, eventually } from "./lib.mjs";

export class Lab {
  constructor(page) {
    this.page = page;
  }

  // open loads JupyterLab with a notebook in a workspace of its own.
  static async open(browser, name, options = {}, prepare = () => {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    await prepare(page);
    const workspace = `t${Date.now()}`;
    await page.goto(`${config.url}lab/workspaces/${workspace}/tree/${encodeURIComponent(name)}?token=${config.token}&reset`);
    const lab = new Lab(page);
    await page.locator(".jp-NotebookPanel .jp-Notebook .jp-Cell").first().waitFor({ timeout: 60000 });
    await lab.whenReady(); // until then JupyterLab may still replace what it shows
    return lab;
  }

  get notebook() {
    return this.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook");
  }

  // cell is a cell by its number, once scrollTo or addCell has been there: with many cells JupyterLab 4.2
  // keeps only those on the page that are in sight.
  cell(i) {
    return this.notebook.locator(`.jp-Cell[data-number="${i}"]`);
  }

  // figure is a chart of ours in a cell's output.
  figure(i) {
    return this.cell(i).locator(".jp-OutputArea .kafkalab-chart");
  }

  async cells() {
    return this.page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets.length);
  }

  async menu(...path) {
    await this.page.getByRole("menubar").getByRole("menuitem", { name: path[0], exact: true }).click();
    for (const name of path.slice(1)) {
      const item = this.page.locator(".lm-Menu .lm-Menu-item").filter({ has: this.page.locator(".lm-Menu-itemLabel", { hasText: name }) }).last();
      await item.hover();
      await item.click();
    }
  }

  // whenReady waits until the notebook's kernel has started and is idle.
  async whenReady(ms = 60000) {
    await eventually("the kernel", async () => {
      const status = await this.page.evaluate(() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status);
      assert.equal(status, "idle");
    }, ms);
  }

  async runAll() {
    await this.menu("Run", /^Run All Cells$/);
  }

  // prompts are the texts beside the code cells: "[3]:", "[*]:" while one runs or waits.
  async prompts() {
    return this.page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets
      .map((cell) => cell.node.querySelector(".jp-InputPrompt")?.textContent?.trim() ?? ""));
  }

  async prompt(i) {
    return (await this.prompts())[i];
  }

  // whenRun waits until no cell runs or waits.
  async whenRun(ms = 120000) {
    await this.page.waitForTimeout(300);
    await eventually("the cells", async () => {
      const prompts = await this.prompts();
      assert.equal(prompts.filter((text) => text.includes("*")).length, 0, `prompts: ${prompts.join(" ")}`);
    }, ms);
    await this.whenReady();
  }

  async output(i) {
    return this.cell(i).locator(".jp-OutputArea-output").allTextContents();
  }

  // addCell puts a code cell at the end, runs it, and gives its number; it does not wait.
  async addCell(source) {
    return this.page.evaluate((source) => {
      const { content } = window.jupyterapp.shell.currentWidget;
      content.activeCellIndex = content.widgets.length - 1;
      const { commands } = window.jupyterapp;
      return commands.execute("notebook:insert-cell-below").then(() => {
        content.activeCell.model.sharedModel.setSource(source);
        void commands.execute("notebook:run-cell");
        return content.activeCellIndex;
      });
    }, source);
  }

  // state is what JupyterLab holds of every cell: type, source, trust and outputs.
  async state() {
    return this.page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets.map(({ model }) => ({
      type: model.type, source: model.sharedModel.getSource(), trusted: model.trusted,
      outputs: model.type === "code" ? model.outputs.toJSON() : [],
    })));
  }

  async save() {
    const saved = this.page.waitForResponse((r) => r.request().method() === "PUT" && r.url().includes("/api/contents/"));
    await this.command("docmanager:save");
    await saved;
  }

  async scrollTo(i) {
    // By JupyterLab's own means first: 4.2 keeps cells off the page that are out of sight. It may also
    // replace a cell's output while it is scrolled to.
    await eventually(`cell ${i}`, async () => {
      await this.page.evaluate((i) => {
        const { content } = window.jupyterapp.shell.currentWidget;
        content.widgets.forEach((cell, n) => { cell.node.dataset.number = n; });
        return content.scrollToItem(i, "start");
      }, i);
      await this.cell(i).scrollIntoViewIfNeeded({ timeout: 2000 });
    });
  }

  // command runs one of JupyterLab's commands; the server is started with its app exposed for this.
  async command(id, args = {}) {
    await this.page.evaluate(([id, args]) => void window.jupyterapp.commands.execute(id, args), [id, args]);
  }

  async setTheme(name) {
    await this.command("apputils:change-theme", { theme: name });
    await eventually("the theme", async () => {
      const light = await this.page.locator("body").getAttribute("data-jp-theme-light");
      assert.equal(light, String(!/Dark/.test(name)));
    });
  }

  // dialog waits for a dialog and gives its text.
  async dialog() {
    const dialog = this.page.locator(".jp-Dialog");
    await dialog.waitFor({ timeout: 15000 });
    return dialog;
  }
}

// drawn asserts that a figure is drawn live, as its kind and with its own label.
export async function drawn(figure, { kind, h, alt }) {
  await eventually(`the ${kind}`, async () => assert.ok((await figure.locator("svg :is(path, rect)").count()) > 5, "it is not drawn"), 20000);
  assert.equal(await figure.getAttribute("data-kafkalab"), kind);
  assert.equal(await figure.getAttribute("aria-label"), alt);
  assert.equal((await figure.boundingBox()).height, h, `the height of the ${kind}`);
}

// quiet are complaints of JupyterLab's own that say nothing about us.
export const quiet = (text) => /Failed to load resource|favicon|ResizeObserver|language server|lsp|jupyterlab-news/i.test(text);

// lessonCharts lists the charts of ours in a notebook's state, with what a drawn one must show.
export function lessonCharts(cells) {
  const charts = [];
  cells.forEach((cell, i) => {
    for (const output of cell.outputs) {
      const chart = output.data?.["application/vnd.kafkalab.chart+json"];
      if (!chart) continue;
      const { kind, h, alt, spec } = chart;
      const frames = kind === "replay" ? JSON.parse(spec).frames.map(({ t, words, event }) => ({ t, words, event })) : undefined;
      charts.push({ cell: i, name: `cell ${i}`, kind, h, alt, frames });
      assert.ok(output.data["image/png"] && output.data["text/plain"], `the chart of cell ${i} has no picture or no text`);
    }
  });
  return charts;
}
