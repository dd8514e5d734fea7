// The JupyterLab side. JupyterLab loads this file as a classic script and asks window._JUPYTERLAB for its
// two modules. SELF, ECHARTS, ECHARTS_FULL and NAME are set above by the Go code that writes the file.

const CHART = "application/vnd.kafkalab.chart+json";
const FOREIGN = "application/vnd.kafkalab.echarts+json";

let shareScope = {};

// shared gives a package of JupyterLab's own, in the highest version that the page holds.
async function shared(name) {
  const versions = shareScope[name];
  if (!versions || !Object.keys(versions).length) throw new Error(`this JupyterLab does not share ${name}`);
  const parts = (version) => version.split(/[.-]/).map((part) => parseInt(part, 10) || 0);
  const [highest] = Object.keys(versions).sort((a, b) => {
    const [x, y] = [parts(a), parts(b)];
    return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
  });
  return (await versions[highest].get())();
}

const loading = new Map(); // the chunk's name: a promise of the library

// loadECharts fetches a chunk beside this file, at the first chart that wants it and once: the small build for our
// curves, the full one for a learner's own chart that needs it.
function loadECharts(full) {
  const [chunk, name] = full ? [ECHARTS_FULL, "kafkalabEChartsFull"] : [ECHARTS, "kafkalabECharts"];
  if (!loading.has(chunk)) {
    const library = import(new URL(chunk, SELF).href).then(() => globalThis[name]);
    library.catch(() => loading.delete(chunk)); // the next chart tries again
    loading.set(chunk, library);
  }
  return loading.get(chunk);
}

function chartRenderer({ Widget }) {
  return class ChartWidget extends Widget {
    constructor(options) {
      super();
      this.mime = options.mimeType;
      this.addClass("kafkalab-output");
      this.element = document.createElement("div");
      this.node.appendChild(this.element);
      this.figure = create(this.element, { loadECharts, revive });
    }

    // JupyterLab calls this for every update of a display, with one widget.
    async renderModel(model) {
      const data = model.data[this.mime];
      const png = model.data["image/png"];
      if (this.mime === CHART) this.figure.update(data, png);
      else if (model.trusted) this.figure.updateECharts(data, png);
      else this.figure.fallBack(readAlt(data), png, "");
    }

    dispose() {
      if (this.isDisposed) return;
      this.figure.dispose();
      super.dispose();
    }
  };
}

async function mimeExtension() {
  const ChartWidget = chartRenderer(await shared("@lumino/widgets"));
  return {
    id: `${NAME}:mime`,
    rank: 0,
    dataType: "json",
    rendererFactory: {
      safe: true, // drawn in untrusted notebooks too: the schema is closed
      mimeTypes: [CHART, FOREIGN],
      defaultRank: 40,
      createRenderer: (options) => new ChartWidget(options),
    },
  };
}

const EXPORT_TIMEOUT_MS = 60000;

// askForPage sends the notebook's path to its kernel and resolves to {name, html}.
function askForPage(kernel, path) {
  return new Promise((resolve, reject) => {
    const comm = kernel.createComm("kafkalab.export");
    let settled = false;
    const end = (settle, value) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      settle(value);
      if (!comm.isDisposed) comm.close();
    };
    const timer = setTimeout(() => end(reject, new Error(
      "The kernel has not answered within a minute. It answers between cells: wait for the running cell, or stop it, and try again.")),
    EXPORT_TIMEOUT_MS);
    comm.onMsg = (message) => {
      const reply = message.content.data;
      if (reply.status === "ok" && typeof reply.html === "string") end(resolve, { name: String(reply.name), html: reply.html });
      else end(reject, new Error(String(reply.message || "The kernel could not make the page.")));
    };
    comm.onClose = () => end(reject, new Error(
      "This notebook's kernel does not know the export. It needs the kernel \"Go (Kafka Lab)\"."));
    comm.open({ path });
  });
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function exportNotebook(panel) {
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) throw new Error("This notebook has no running kernel. Start one, run the cells, and export again.");
  await panel.context.save();
  const page = await askForPage(kernel, panel.context.localPath || panel.context.path);
  download(page.name, page.html);
}

async function exportExtension() {
  const { INotebookTracker } = await shared("@jupyterlab/notebook");
  const { ICommandPalette, showErrorMessage } = await shared("@jupyterlab/apputils");
  const { IMainMenu } = await shared("@jupyterlab/mainmenu");
  const command = "kafkalab:export";
  return [{
    id: `${NAME}:export`,
    autoStart: true,
    requires: [INotebookTracker],
    optional: [ICommandPalette, IMainMenu],
    activate: (app, tracker, palette, menu) => {
      app.commands.addCommand(command, {
        label: "Export as stepping HTML",
        caption: "One HTML file for a browser without Jupyter and without the network, whose charts still step",
        isEnabled: () => tracker.currentWidget !== null,
        execute: async () => {
          try {
            await exportNotebook(tracker.currentWidget);
          } catch (err) {
            await showErrorMessage("Export as stepping HTML", err.message || String(err));
          }
        },
      });
      tracker.currentChanged.connect(() => app.commands.notifyCommandChanged(command));
      if (palette) palette.addItem({ command, category: "Notebook Operations" });
      if (menu) menu.fileMenu.addGroup([{ command }], 11);
    },
  }];
}

// The two modules stay apart: a package that is missing for the menu entry must not take the charts along.
const MODULES = { "./mimeExtension": mimeExtension, "./extension": exportExtension };

window._JUPYTERLAB = window._JUPYTERLAB || {};
window._JUPYTERLAB[NAME] = {
  init: (scope) => {
    shareScope = scope;
  },
  get: async (name) => {
    if (!own(MODULES, name)) throw new Error(`${NAME} has no module ${name}`);
    const made = { __esModule: true, default: await MODULES[name]() };
    return () => made;
  },
};
