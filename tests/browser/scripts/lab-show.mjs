// A learner's own charts in JupyterLab: live where the notebook is trusted, pictures where it is not.
import { assert, browse, config, eventually, ownChart, shot } from "./lib.mjs";
import { Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, "show.ipynb");
  const requests = [];
  const wrong = [];
  lab.page.on("request", (request) => requests.push(request.url()));
  lab.page.on("console", (message) => { if (/kafkalab|echarts/i.test(message.text()) && message.type() !== "log") wrong.push(message.text()); });
  lab.page.on("pageerror", (err) => wrong.push(err.message));
  await lab.runAll();
  await lab.whenRun();
  for (let i = 0; i < config.charts.length; i++) {
    const { name, h } = config.charts[i];
    await lab.scrollTo(i);
    const figure = lab.figure(i);
    await ownChart(lab.page, figure, config.charts[i]);
    await figure.hover({ position: { x: 300, y: h / 2 } });
    if (["pie", "tree", "custom"].includes(name)) await shot(lab.page, `lab-show-${name}`);
  }
  const count = (chunk) => requests.filter((url) => url.includes(`/${chunk}.`)).length;
  assert.equal(count("echarts-full"), 1, "the full ECharts is loaded once, at the first chart that needs it");
  assert.equal(count("echarts"), 1, "and the small one too");
  assert.deepEqual(wrong, []);

  const other = await Lab.open(browser, "sent.ipynb");
  await other.scrollTo(0);
  await other.figure(0).locator("img").waitFor();
  assert.equal(await other.figure(0).getAttribute("data-kafkalab"), "png");
  assert.equal(await other.figure(0).locator("img").getAttribute("alt"), config.sent);
  assert.deepEqual(await other.page.evaluate(() => globalThis.ran ?? []), [], "a function of an untrusted chart ran");

  // Trusting the notebook lets it run.
  await other.command("notebook:trust");
  await (await other.dialog()).locator("button.jp-mod-accept").click();
  await other.scrollTo(0);
  await eventually("the trusted chart", async () => {
    assert.equal(await other.figure(0).getAttribute("data-kafkalab"), "echarts");
    assert.ok((await other.page.evaluate(() => globalThis.ran ?? [])).length > 0, "its function did not run");
  });
});
