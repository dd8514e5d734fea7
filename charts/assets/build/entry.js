// What of ECharts goes into ../echarts.js: the charts and parts that a Kafka Lab chart can name,
// and the SVG renderer (the canvas one loses its picture when JupyterLab scrolls a cell away).
import { init, getInstanceByDom, setPlatformAPI, use, version, graphic } from "echarts/core";
import { LineChart, BarChart, ScatterChart, CustomChart, HeatmapChart, GraphChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomInsideComponent,
  DatasetComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([
  LineChart, BarChart, ScatterChart, CustomChart, HeatmapChart, GraphChart,
  AriaComponent, DataZoomInsideComponent, DatasetComponent, GridComponent, LegendComponent,
  MarkAreaComponent, MarkLineComponent, TitleComponent, TooltipComponent, VisualMapComponent,
  SVGRenderer,
]);

const { clipRectByRect } = graphic;
export { init, getInstanceByDom, setPlatformAPI, version, clipRectByRect };
