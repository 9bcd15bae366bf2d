"use strict";
// Draws the lines of a table below each other, on one horizontal axis: dragging chooses a range, a double click shows all.
const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 900, HEIGHT = 170, LEFT = 80, RIGHT = 12, TOP = 20, BOTTOM = 22;

function element(parent, name, values, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
}

function short(number) {
  const size = Math.abs(number);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? number.toExponential(3) : String(Number(number.toPrecision(5)));
}

// Appends the plots of a table to a figure. Returns a function that shows a table which has grown; a range that was chosen stays.
function plot(figure, table) {
  let axis, lines, whole, range = null, draws = [];
  const show = (grown) => {
    ({ axis, lines } = grown);
    const all = lines.flatMap((line) => [line.x[0], line.x[line.x.length - 1]]);
    whole = [Math.min(...all), Math.max(...all)];
    if (draws.length !== lines.length) {
      figure.querySelectorAll("svg").forEach((svg) => svg.remove());
      draws = lines.map((line, at) => panel(at));
    }
    draws.forEach((draw) => draw());
  };
  const panel = (number) => {
    const svg = element(figure, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": lines[number].name });
    let scales = null;
    const draw = () => {
      const line = lines[number], [from, to] = range || whole;
      svg.replaceChildren();
      const inside = line.x.map((x, at) => at).filter((at) => line.x[at] >= from && line.x[at] <= to);
      let [low, high] = [Infinity, -Infinity];
      for (const at of inside) [low, high] = [Math.min(low, line.y[at]), Math.max(high, line.y[at])];
      if (!inside.length) [low, high] = [0, 1];
      if (low === high) [low, high] = [low - 1, high + 1];
      const x = (value) => LEFT + ((value - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
      const y = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
      scales = { x, value: (place) => from + ((place - LEFT) / (WIDTH - LEFT - RIGHT)) * (to - from) };
      element(svg, "rect", { class: "frame", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM });
      if (low < 0 && high > 0) element(svg, "line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(0), y2: y(0) });
      element(svg, "text", { x: LEFT - 6, y: TOP + 10, "text-anchor": "end" }, short(high));
      element(svg, "text", { x: LEFT - 6, y: HEIGHT - BOTTOM, "text-anchor": "end" }, short(low));
      element(svg, "text", { x: LEFT, y: HEIGHT - 6 }, short(from));
      element(svg, "text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, `${axis} ${short(to)}`);
      element(svg, "text", { x: LEFT, y: TOP - 6 }, line.name);
      const step = (at, order) => `${order ? "L" : "M"}${x(line.x[at]).toFixed(1)} ${y(line.y[at]).toFixed(1)}`;
      element(svg, "path", { d: inside.map(step).join("") });
      svg.under = element(svg, "text", { x: WIDTH - RIGHT, y: TOP - 6, "text-anchor": "end" }, "");
    };
    const place = (event) => ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * WIDTH;
    let begin = null, chosen = null;
    svg.addEventListener("pointerdown", (event) => {
      begin = place(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      const line = lines[number], at = scales.value(place(event));
      let near = 0;
      for (let other = 0; other < line.x.length; ++other) if (Math.abs(line.x[other] - at) < Math.abs(line.x[near] - at)) near = other;
      svg.under.textContent = `${short(line.x[near])}: ${short(line.y[near])}`;
      if (begin === null) return;
      if (chosen) chosen.remove();
      const [from, to] = [Math.min(begin, place(event)), Math.max(begin, place(event))];
      chosen = element(svg, "rect", { class: "chosen", x: from, y: TOP, width: to - from, height: HEIGHT - TOP - BOTTOM });
    });
    svg.addEventListener("pointerup", (event) => {
      if (begin === null) return;
      const ends = [begin, place(event)].sort((a, b) => a - b);
      begin = chosen = null;
      if (ends[1] - ends[0] < 5) return;
      range = ends.map((end) => Math.min(Math.max(scales.value(end), whole[0]), whole[1]));
      draws.forEach((draw) => draw());
    });
    svg.addEventListener("dblclick", () => {
      range = null;
      draws.forEach((draw) => draw());
    });
    return draw;
  };
  show(table);
  return show;
}
