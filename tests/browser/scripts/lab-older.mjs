// Charts and an extension of different ages: each chart is drawn live or shows its picture, and none is blank.
import { assert, browse, config, eventually, shot } from "./lib.mjs";
import { drawn, Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, config.name ?? "saved.ipynb");
  const ways = { live: new Set(), still: new Set() };
  for (let i = 0; i < config.charts.length; i++) {
    const { kind, alt } = config.charts[i];
    await lab.scrollTo(i);
    const figure = lab.figure(i);
    await eventually(`chart ${i} (${kind})`, async () => assert.notEqual(await figure.getAttribute("data-kafkalab"), null), 20000);
    if ((await figure.getAttribute("data-kafkalab")) !== "png") {
      await drawn(figure, config.charts[i]);
      ways.live.add(kind);
      continue;
    }
    const image = figure.locator("img");
    await image.waitFor();
    assert.equal(await image.getAttribute("alt"), alt);
    assert.ok((await image.boundingBox()).height > 100, `the picture of chart ${i} is small`);
    ways.still.add(kind);
  }
  for (const [way, kinds] of Object.entries(ways)) {
    for (const kind of config[way] ?? []) assert.ok(kinds.has(kind), `no ${kind} is shown ${way}`);
  }
  if (!config.still) assert.equal(ways.still.size, 0, `shown as pictures only: ${[...ways.still]}`);
  console.log(`live: ${[...ways.live]}; pictures: ${[...ways.still]}`);
  await shot(lab.page, `lab-older-${config.name ?? "saved.ipynb"}`);
});
