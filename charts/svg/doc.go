// Package svg writes the small, deterministic SVG of Kafka Lab's pictures, and turns SVG of that kind
// (and of the kind that ECharts writes) into a PNG without any system library or installed font.
//
// The subset: svg, g, rect, circle, ellipse, line, polyline, polygon, path, text, defs with clipPath;
// fills and strokes in flat colours, opacity, dashes, caps and joins, transforms. Gradients are painted
// in the colour of their first stop. Filters, images, masks and styles by class are left out.
package svg
