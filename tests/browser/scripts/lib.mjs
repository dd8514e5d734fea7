// What the scripts share. The Go test hands over one JSON object in CONFIG; a script that throws fails.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const config = JSON.parse(readFileSync(process.env.CONFIG, "utf8"));

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// browse starts a browser with a profile of its own, hands it over, and ends it.
export async function browse(work) {
  const browser = await chromium.launch({ executablePath: config.chromium, args: FLAGS });
  try {
    await work(browser);
  } catch (err) {
    const pages = browser.contexts().flatMap((context) => context.pages());
    for (const [i, page] of pages.entries()) await shot(page, `failed-${config.script}-${i}`).catch(() => {});
    throw err;
  } finally {
    await browser.close();
  }
}

// watch collects what must not happen in a page: errors, refusals of the policy, dialogs, foreign requests.
export function watch(page, { allowed = () => false, ignored = () => false } = {}) {
  const wrong = [];
  page.on("pageerror", (err) => wrong.push(`error: ${err.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !ignored(message.text())) wrong.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && !url.startsWith("blob:") && !allowed(url)) wrong.push(`request: ${url.slice(0, 200)}`);
  });
  return wrong;
}

export async function shot(page, name, options = {}) {
  mkdirSync(config.out, { recursive: true });
  await page.screenshot({ path: join(config.out, `${name}.png`), ...options });
}

// inked counts the pixels of an element that are not as its corner is.
export async function inked(page, element) {
  const png = (await element.screenshot()).toString("base64");
  return page.evaluate(async (png) => {
    const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    const { data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    let ink = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (Math.abs(data[i] - data[0]) + Math.abs(data[i + 1] - data[1]) + Math.abs(data[i + 2] - data[2]) > 40) ink++;
    }
    return ink;
  }, png);
}

// ownChart asserts that a learner's own chart stands in a figure, as large as it said, with its words and with ink.
export async function ownChart(page, figure, { name, h, alt, says }) {
  await eventually(name, async () => {
    assert.equal(await figure.getAttribute("data-kafkalab"), "echarts");
    const shown = await figure.locator("svg").textContent();
    for (const words of says) assert.ok(shown.includes(words), `${words} is not in ${shown}`);
  });
  assert.equal(await figure.getAttribute("aria-label"), alt);
  assert.equal((await figure.boundingBox()).height, h);
  const ink = await inked(page, figure);
  assert.ok(ink > 500, `${name}: ${ink} pixels of ink`);
}

// eventually waits until a check passes, or fails with the check's own complaint.
export async function eventually(what, check, ms = 10000) {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await check();
    } catch (err) {
      if (Date.now() > end) {
        err.message = `${what}: ${err.message}`;
        throw err;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// A replay on the page, read and moved as a person would.
export class Replay {
  constructor(figure, frames) {
    this.figure = figure; // a locator of .kafkalab-chart
    this.frames = frames; // [{t, words}]
    this.slider = figure.locator("input[type=range]");
  }

  async at() {
    return Number(await this.slider.inputValue());
  }

  // shows asserts that the frame's time and words stand there, as the spec has them.
  async shows(i) {
    await eventually(`frame ${i}`, async () => assert.equal(await this.at(), i), 3000);
    const words = await this.figure.locator(".kafkalab-words p").allTextContents();
    assert.deepEqual(words, this.frames[i].words ?? [], `the words of frame ${i}`);
    const clock = await this.figure.locator("output").textContent();
    assert.ok(clock.startsWith(`${this.frames[i].t} ms`), `the clock of frame ${i} says ${clock}`);
    const label = await this.figure.locator(".kafkalab-picture > svg").getAttribute("aria-label");
    assert.ok(label.includes(`at ${this.frames[i].t} ms`), `the picture's label of frame ${i} says ${label}`);
  }

  async click(name) {
    await this.figure.getByRole("button", { name }).click({ force: true }); // aria-disabled ones too
  }

  // drag moves the slider's thumb with the mouse to a part of its length.
  async drag(part) {
    const { x, y, width, height } = await this.slider.boundingBox();
    const mouse = this.figure.page().mouse;
    const last = this.frames.length - 1;
    const from = x + 8 + ((width - 16) * (await this.at())) / last;
    await mouse.move(from, y + height / 2);
    await mouse.down();
    await mouse.move(x + 8 + (width - 16) * part, y + height / 2, { steps: 5 });
    await mouse.up();
  }

  // jumpsAndPlaysFaster goes from event to event and plays at another speed.
  async jumpsAndPlaysFaster() {
    const press = (key) => this.figure.page().keyboard.press(key);
    const last = this.frames.length - 1;
    const after = (i) => this.frames.findIndex((f, k) => k > i && (f.event || k === last));
    await press("Home");
    const event = after(0);
    assert.ok(event > 0 && event < last, "the sample has no event in its middle");
    await press(".");
    await this.shows(event);
    await this.click(/^next event/);
    await this.shows(after(event));
    await this.click(/^event before/);
    await this.shows(event);
    await this.figure.focus();
    await press("Home");
    await press("+");
    assert.equal(await this.figure.locator("select").inputValue(), "2");
    await this.figure.locator("select").selectOption("4");
    await this.figure.focus();
    await press("Space");
    await eventually("three frames at four times the speed", async () => assert.ok((await this.at()) >= 3), 2000);
    await press("Space");
    await press("End");
    await press("-");
    assert.equal(await this.figure.locator("select").inputValue(), "2");
  }

  // stepsByMouseAndKeyboard goes through everything that the figure answers to.
  async stepsByMouseAndKeyboard() {
    const last = this.frames.length - 1;
    await this.figure.scrollIntoViewIfNeeded();
    await this.shows(last); // it begins at the end: what the cell has just done
    await this.drag(0);
    await this.shows(0);
    await this.drag(0.5);
    await this.shows(Math.round(last / 2));
    await this.click(/^first moment/);
    await this.shows(0);
    await this.click(/^one back/); // nothing before the first
    await this.shows(0);
    await this.click(/^one on/);
    await this.shows(1);
    await this.click(/^last moment/);
    await this.shows(last);
    const press = (key) => this.figure.page().keyboard.press(key);
    await press("ArrowLeft"); // the focus is still on a button of the figure
    await this.shows(last - 1);
    await this.figure.focus();
    await press("Home");
    await this.shows(0);
    await press("ArrowRight");
    await press("ArrowRight");
    await this.shows(2);
    await press("ArrowLeft");
    await this.shows(1);
    await press("End");
    await this.shows(last);
    await press("Space"); // plays from the beginning
    await this.shows(1);
    await press("Space"); // and stops
    const stopped = await this.at();
    await new Promise((resolve) => setTimeout(resolve, 1200));
    assert.equal(await this.at(), stopped, "a stopped replay moved on");
    await this.slider.focus();
    await press("ArrowRight");
    await this.shows(stopped + 1);
    await this.jumpsAndPlaysFaster();
  }
}


export { assert };
