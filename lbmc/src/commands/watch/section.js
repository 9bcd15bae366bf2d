"use strict";
// A section through a field: colours of its values, edges of levels, a bar whose ends can be dragged.

const BAR = { left: 4, width: 18, top: 10, bottom: 10 };

// The head of a message and the bytes behind it.
function message(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { head, start: 4 + length };
}

function readSection(buffer) {
  const { head, start } = message(buffer);
  const count = head.width * head.height;
  return { ...head, values: new Float32Array(buffer, start, count), levels: new Uint8Array(buffer, start + 4 * count, count) };
}

// The range of a field's colours: all but the least and the largest values, which are those of a few corners; symmetric about zero for fields
// with a sign, from zero for magnitudes.
function usualRange(field, values) {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  let [low, high] = known.length ? [0.005, 0.995].map((share) => known[Math.round(share * (known.length - 1))]) : [0, 1];
  if (field.signed) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  else if (field.magnitude) low = 0;
  return low < high ? [low, high] : [low, low + (Math.abs(low) || 1)];
}

// Draws a section; each value has `zoom` pixels a side.
function drawSection(canvas, section, [low, high], colours, showsLevels) {
  const { width, height, values, levels } = section;
  const zoom = Math.max(1, Math.min(8, Math.round(900 / Math.max(width, height))));
  if (canvas.width !== width * zoom || canvas.height !== height * zoom) [canvas.width, canvas.height] = [width * zoom, height * zoom];
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(width, height);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const value = values[x + width * (height - 1 - y)], at = 4 * (x + width * y);
      const place = Math.round((255 * (value - low)) / (high - low));
      const colour = Number.isNaN(value) ? [140, 140, 140] : colours[Math.min(Math.max(place, 0), 255)];
      image.data.set(colour, at);
      image.data[at + 3] = 255;
    }
  }
  const small = Object.assign(document.createElement("canvas"), { width, height });
  small.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, 0, 0, width * zoom, height * zoom);
  if (!showsLevels) return;
  pen.fillStyle = "rgba(0, 0, 0, .7)";
  const level = (x, y) => levels[x + width * (height - 1 - y)];
  const differ = (a, b) => a !== b && a !== 255 && b !== 255;
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      if (x > 0 && differ(level(x, y), level(x - 1, y))) pen.fillRect(x * zoom, y * zoom, 1, zoom);
      if (y > 0 && differ(level(x, y), level(x, y - 1))) pen.fillRect(x * zoom, y * zoom, zoom, 1);
    }
  }
}

// The value at a place of the canvas, in pixels of the page.
function valueAt(canvas, section, event) {
  const box = canvas.getBoundingClientRect();
  const share = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
  const [x, y] = [0, 1].map((axis) => Math.floor(share[axis] * [section.width, section.height][axis]));
  if (x < 0 || y < 0 || x >= section.width || y >= section.height) return null;
  const at = x + section.width * y;
  return { place: [0, 1].map((axis) => share[axis] * section.extent[axis]), value: section.values[at], level: section.levels[at] };
}

function drawBar(canvas, [low, high], colours, ink) {
  const pen = canvas.getContext("2d"), tall = canvas.height - BAR.top - BAR.bottom;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < tall; ++at) {
    pen.fillStyle = `rgb(${colours[Math.round(255 * (1 - at / tall))].join(",")})`;
    pen.fillRect(BAR.left, BAR.top + at, BAR.width, 1);
  }
  pen.fillStyle = ink;
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (let at = 0; at <= 4; ++at) pen.fillText(short(low + (at / 4) * (high - low)), BAR.left + BAR.width + 5, BAR.top + tall * (1 - at / 4));
}

// Calls `choose` with a new range while an end of the bar is dragged: the upper half drags the upper end.
function dragBar(canvas, range, choose) {
  let begin = null;
  canvas.addEventListener("pointerdown", (event) => {
    const box = canvas.getBoundingClientRect();
    begin = { y: event.clientY, tall: box.height, ends: range(), upper: event.clientY - box.top < box.height / 2 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!begin) return;
    const [low, high] = begin.ends, by = ((event.clientY - begin.y) / begin.tall) * (high - low) * 2;
    const ends = begin.upper ? [low, high + by] : [low + by, high];
    if (ends[0] < ends[1]) choose(ends);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (begin = null));
}
