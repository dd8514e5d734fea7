// What of ECharts goes into ../echarts-full.js, for a learner's own chart that ../echarts.js cannot draw: every
// series and part of ECharts but maps (they need outlines that no one ships here), the matrix with its chords (go-echarts has
// none) and the canvas renderer (it loses its picture when JupyterLab scrolls a cell away).
import { init, getInstanceByDom, setPlatformAPI, use, version, graphic, format, number, time, util } from "echarts/core";
import {
  BarChart, BoxplotChart, CandlestickChart, CustomChart, EffectScatterChart, FunnelChart, GaugeChart, GraphChart,
  HeatmapChart, LineChart, ParallelChart, PictorialBarChart, PieChart, RadarChart, SankeyChart, ScatterChart,
  SunburstChart, ThemeRiverChart, TreeChart, TreemapChart,
} from "echarts/charts";
import {
  AriaComponent, AxisPointerComponent, BrushComponent, CalendarComponent, DatasetComponent, DataZoomComponent, GraphicComponent,
  GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, MarkPointComponent, ParallelComponent,
  PolarComponent, RadarComponent, SingleAxisComponent, TitleComponent, ToolboxComponent, TooltipComponent,
  TransformComponent, VisualMapComponent,
} from "echarts/components";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([
  BarChart, BoxplotChart, CandlestickChart, CustomChart, EffectScatterChart, FunnelChart, GaugeChart, GraphChart,
  HeatmapChart, LineChart, ParallelChart, PictorialBarChart, PieChart, RadarChart, SankeyChart, ScatterChart,
  SunburstChart, ThemeRiverChart, TreeChart, TreemapChart,
  AriaComponent, AxisPointerComponent, BrushComponent, CalendarComponent, DatasetComponent, DataZoomComponent, GraphicComponent,
  GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, MarkPointComponent, ParallelComponent,
  PolarComponent, RadarComponent, SingleAxisComponent, TitleComponent, ToolboxComponent, TooltipComponent,
  TransformComponent, VisualMapComponent,
  LabelLayout, SVGRenderer,
]);

const { clipRectByRect } = graphic;
export { init, getInstanceByDom, setPlatformAPI, version, clipRectByRect };
export { graphic, format, number, time, util }; // what a learner's own function may call
