// Our kernel in Notebook 7: run all, completion, help, the stop button, restart and run all, reload.
import { assert, browse, config, eventually, shot } from "./lib.mjs";

await browse(async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
  const idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]");
  const open = async () => {
    await page.goto(`${config.url}notebooks/${config.name}?token=${config.token}`);
    await idle.waitFor({ timeout: 60000 });
    await page.waitForTimeout(2000); // it takes the focus to its first cell when the kernel is there
  };
  const menu = async (name, item) => {
    await page.getByRole("menubar").getByRole("menuitem", { name, exact: true }).click();
    await page.locator(".lm-Menu-item").filter({ has: page.locator(".lm-Menu-itemLabel", { hasText: item }) }).last().click();
  };
  const cells = page.locator(".jp-Notebook .jp-CodeCell");
  const prompts = async () => (await cells.locator(".jp-InputPrompt").allTextContents()).map((text) => text.trim());
  const whenRun = () => eventually("the cells", async () => {
    assert.ok(!(await prompts()).some((text) => text.includes("*")), String(await prompts()));
    assert.equal(await idle.count(), 1);
  }, 60000);
  const outputs = async () => Promise.all([0, 1, 2, 3].map(async (i) => (await cells.nth(i).locator(".jp-OutputArea-output").allTextContents()).join("").trim()));
  const shows = () => eventually("the outputs", async () => {
    const [none, sum, printed, failed] = await outputs();
    assert.deepEqual([none, sum, printed], ["", "42", "printed"]);
    assert.match(failed, /Panic: on purpose/);
  }, 30000);

  await open();
  await menu("Run", /^Run All Cells$/);
  await page.waitForTimeout(500);
  await whenRun();
  await shows();
  await shot(page, "notebook7-error");

  await cells.nth(3).locator(".jp-InputArea").click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await page.keyboard.press("Enter");
  await page.keyboard.type("strings.ToUpp");
  await page.keyboard.press("Tab");
  await eventually("the completions", async () => assert.match(await page.locator(".jp-Completer").textContent(), /ToUpper/));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("strings.TrimSpace");
  await page.keyboard.press("Shift+Tab");
  await eventually("the help", async () => assert.match(await page.locator(".jp-Tooltip").textContent(), /func strings.TrimSpace/));
  await shot(page, "notebook7-help");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("for {}");
  await page.keyboard.press("Control+Enter");
  await eventually("the loop", async () => assert.match((await prompts())[4], /\*/));
  await page.locator(".jp-NotebookPanel-toolbar").locator("[data-command='notebook:interrupt-kernel'], [title^='Interrupt']").first().click();
  await whenRun();
  await eventually("the interrupt", async () => assert.match((await cells.nth(4).locator(".jp-OutputArea-output").allTextContents()).join(""), /KeyboardInterrupt/));
  await shot(page, "notebook7-stopped");
  await page.keyboard.press("Escape");
  await page.keyboard.press("d");
  await page.keyboard.press("d");

  await menu("Kernel", /^Restart Kernel and Run All Cells/);
  await page.locator(".jp-Dialog button.jp-mod-accept").click();
  await page.waitForTimeout(1500);
  await whenRun();
  await shows();
  assert.deepEqual((await prompts()).slice(0, 4), ["[1]:", "[2]:", "[3]:", "[4]:"]);
  const saved = page.waitForResponse((r) => r.request().method() === "PUT" && r.url().includes("/api/contents/"));
  await page.keyboard.press("Control+s");
  await saved;
  await open();
  await shows();
});
