// What a person does all day: run all, see an error, complete, ask for help, restart and run all, reload;
// and the kernel's comms answer while a cell runs (through a subshell, where JupyterLab makes one).
import { assert, browse, config, eventually, shot } from "./lib.mjs";
import { Lab } from "./lab.mjs";

const textOf = (cell) => cell.outputs.map((o) => o.text ?? o.data?.["text/plain"] ?? `${o.ename}: ${o.evalue}`).join("\n");

await browse(async (browser) => {
  const lab = await Lab.open(browser, config.name);
  const { page } = lab;
  const outputs = async () => (await lab.state()).slice(0, 4).map(textOf);
  const want = ["", "42", "printed\n", "Panic: on purpose"];
  await lab.runAll();
  await lab.whenRun();
  assert.deepEqual(await outputs(), want);
  await lab.scrollTo(3);
  await shot(page, "ways-error");

  const type = async (text, key) => {
    await lab.command("notebook:insert-cell-below");
    await lab.command("notebook:enter-edit-mode");
    await page.waitForTimeout(300);
    await page.keyboard.type(text);
    await page.keyboard.press(key);
  };
  await type("strings.ToUpp", "Tab");
  const completer = page.locator(".jp-Completer");
  await completer.waitFor({ timeout: 10000 });
  await eventually("the completions", async () => assert.match(await completer.textContent(), /ToUpper/));
  await shot(page, "ways-completion");
  await page.keyboard.press("Escape");
  await type("strings.TrimSpace", "Shift+Tab");
  const tooltip = page.locator(".jp-Tooltip");
  await tooltip.waitFor({ timeout: 10000 });
  await eventually("the help", async () => assert.match(await tooltip.textContent(), /func strings.TrimSpace\(s string\) string/));
  await shot(page, "ways-help");
  await page.keyboard.press("Escape");
  for (let i = 0; i < 2; i++) await lab.command("notebook:delete-cell");

  // A comm's answer while a cell runs.
  const loop = await lab.addCell("for {}");
  await eventually("the loop", async () => assert.match(await lab.prompt(loop), /\*/));
  const answer = await page.evaluate(async () => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    const comm = kernel.createComm("kafkalab.export");
    // JupyterLab asks for the subshell beside; what is sent before it is there goes to the parent shell.
    for (let i = 0; i < 50 && kernel.supportsSubshells && !comm.subshellId; i++) await new Promise((resolve) => setTimeout(resolve, 100));
    const said = new Promise((resolve) => { comm.onMsg = (m) => resolve({ data: m.content.data, subshell: m.parent_header.subshell_id ?? null, offered: kernel.supportsSubshells ?? false }); });
    comm.open({ path: "no/such.ipynb" });
    const late = new Promise((resolve) => setTimeout(() => resolve("no answer in 8 s"), 8000));
    return Promise.race([said, late]);
  });
  assert.equal(answer.data?.status, "error", JSON.stringify(answer));
  console.log(`while the loop runs, through subshell ${answer.subshell}: ${answer.data.message}`);
  if (answer.offered) assert.ok(answer.subshell, "JupyterLab makes no subshell for a comm");
  assert.match(await lab.prompt(loop), /\*/, "the loop ended");
  await lab.command("notebook:interrupt-kernel");
  await lab.whenRun(10000);
  await lab.command("notebook:delete-cell");

  await lab.command("runmenu:restart-and-run-all");
  await (await lab.dialog()).locator("button.jp-mod-accept").click();
  await page.waitForTimeout(1500);
  await lab.whenRun();
  assert.deepEqual(await outputs(), want, "after restart and run all");
  assert.deepEqual((await lab.prompts()).slice(0, 4), ["[1]:", "[2]:", "[3]:", "[4]:"]);
  await lab.save();
  const again = await Lab.open(browser, config.name);
  assert.deepEqual((await again.state()).slice(0, 4).map(textOf), want, "after reloading");
  await shot(again.page, "ways-reloaded");
});
