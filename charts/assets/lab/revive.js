// The functions of a learner's own chart. This is the one place that makes code of a text; it is in the JupyterLab
// extension, for notebooks that the reader trusts, and in the kernel, for the picture of a chart that the
// reader's own cell has just made. An exported page does not have it.

const FUNCTION_MARK = "__f__";

// revive makes functions of the texts that go-echarts marked as such. echarts is what they may call by that
// name. It is for a chart whose author is trusted.
function revive(value, echarts) {
  if (Array.isArray(value)) return value.map((item) => revive(item, echarts));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item, echarts)]));
  }
  const marked = typeof value === "string" && value.length > 2 * FUNCTION_MARK.length && value.startsWith(FUNCTION_MARK) && value.endsWith(FUNCTION_MARK);
  if (!marked) return value;
  return new Function("echarts", `"use strict"; return (${value.slice(FUNCTION_MARK.length, -FUNCTION_MARK.length)});`)(echarts);
}
