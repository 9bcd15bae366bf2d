"use strict";
// The page of a run: asks for its state once a second, and for what is on the screen. Texts of the run are shown as texts.

const SECOND = 1000;
const by = (id) => document.getElementById(id);
const show = (id, visible) => (by(id).hidden = !visible);
let state = null, colours = null;

async function ask(name, values = {}) {
  const answer = await fetch(`${name}?${new URLSearchParams(values)}`);
  // 204: nothing yet, or no more.
  if (answer.status !== 200) throw Object.assign(new Error(await answer.text()), { status: answer.status });
  return answer;
}

const rest = (time) => new Promise((done) => setTimeout(done, time));

// Seconds as people say them.
function duration(seconds) {
  const whole = Math.round(seconds), two = (number) => String(number).padStart(2, "0");
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)}:${two(whole % 60)} min` : `${Math.floor(whole / 3600)}:${two(Math.floor((whole % 3600) / 60))} h`;
}

function fact(name, value) {
  const id = `fact-${name.replace(/ /g, "-")}`;
  let shown = by(id);
  if (!shown) {
    const pair = document.createElement("div"), title = document.createElement("dt");
    title.textContent = name;
    shown = Object.assign(document.createElement("dd"), { id });
    pair.append(title, shown);
    by("facts").append(pair);
  }
  if (shown.textContent !== value) shown.textContent = value;
}

// Fills a choice once for each list of names.
function choices(id, names, chosen) {
  const choice = by(id);
  if (choice.dataset.names === names.join("\n")) return;
  choice.dataset.names = names.join("\n");
  const before = choice.value;
  choice.replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), { textContent: name, value: name })));
  choice.value = names.includes(before) ? before : names.includes(chosen) ? chosen : names[0];
}

const PHASES = { preparing: "being prepared", running: "running", paused: "paused", over: "over", elsewhere: "not over: the folder has no summary" };

function showState() {
  const { about, phase, status, pause } = state;
  const ended = phase === "over" && about && about.status;
  by("name").textContent = (about && about.case) || "lbmc";
  document.title = `${(about && about.case) || "lbmc"}: ${ended || phase}`;
  by("phase").textContent = ended || PHASES[phase];
  by("phase").className = `status ${phase === "running" || ended === "completed" ? "done" : "early"}`;
  if (about) {
    fact("method", about.spec);
    fact("device", about.parts > 1 ? `${about.parts} of ${about.device}` : about.device);
    fact("cells", about.levels && about.levels.length > 1 ? about.levels.join(" + ") : about.size.join(" x "));
    fact("precision", about.precision);
    if (about.re) fact("Re", short(about.re));
  }
  if (status && phase !== "over") {
    fact("step", `${status.step} of ${status.steps}`);
    fact("time", `${short(status.time)} ${state.time}`);
    fact("MLUPS", short(status.mlups));
    fact("left", status.remaining === null ? "unknown" : duration(status.remaining));
    if (state.steady !== null) fact("residual", status.residual === null ? "none yet" : `${status.residual.toExponential(2)} (steady at ${state.steady})`);
    if (status.seconds_waiting_for_output >= 1) fact("waited for output", duration(status.seconds_waiting_for_output));
    by("progress").value = status.step / status.steps;
  } else if (about && about.steps !== undefined) {
    fact("step", String(about.steps));
    if (about.mlups) fact("MLUPS", short(about.mlups));
    if (about.stop) fact("stopped by", about.stop);
    if (by("fact-left")) by("fact-left").textContent = "nothing";
  } else if (typeof state.step === "number") fact("last row of step", String(state.step));
  show("progress", status && phase !== "over");
  show("orders", state.orders);
  by("pause").textContent = pause ? "Go on" : "Pause";
  const names = state.fields.map((field) => field.name);
  show("section", names.length > 0 && phase !== "preparing");
  show("surface", names.length > 0 && state.dim === 3 && phase !== "preparing");
  show("pictures", state.pictures.length > 0 && phase !== "preparing");
  if (names.length) {
    choices("section-field", names, "speed");
    choices("surface-field", names, "q_criterion");
    choices("surface-colour", names, "speed");
    document.querySelectorAll(".space").forEach((choice) => (choice.hidden = state.dim !== 3));
    show("section-levels-choice", state.levels > 0);
  }
  choices("picture-name", state.pictures.map((picture) => picture.name));
}

async function order(name) {
  try {
    const answer = await fetch(name, { method: "POST" });
    by("message").textContent = answer.ok ? "" : await answer.text();
  } catch {
    by("message").textContent = "lbmc does not answer";
  }
  look();
}

by("pause").addEventListener("click", () => order(state.pause ? "resume" : "pause"));
for (const name of ["fields", "restart"]) by(name).addEventListener("click", () => order(name));
by("stop").addEventListener("click", () => {
  by("stop").disabled = true;
  order("stop");
});

let failures = 0;
async function look() {
  try {
    state = await (await ask("state")).json();
    if (failures) by("message").textContent = "";
    failures = 0;
    showState();
  } catch {
    failures += 1;
    if (failures > 1 && state) {
      by("message").textContent = state.phase === "over" ? "" : "lbmc does not answer any more";
      for (const button of document.querySelectorAll("button")) button.disabled = true;
    }
  }
}

// A part of the page that asks for itself: at most once a second, at once after a change, not while nobody sees it.
class Part {
  constructor(id, work) {
    Object.assign(this, { work, id, wake: null, isNew: true });
    this.go();
  }
  change() {
    this.isNew = true;
    if (this.wake) this.wake();
  }
  isSeen() {
    const part = by(this.id);
    return state && !document.hidden && !part.hidden && part.open !== false;
  }
  async go() {
    for (;;) {
      if (this.isSeen()) {
        const isNew = this.isNew;
        this.isNew = false;
        try {
          if (await this.work(isNew)) this.isNew = true;
        } catch (error) {
          const text = by(`${this.id}-text`);
          if (text && error.message) text.textContent = error.status ? error.message : "";
          if (error.status === 204) {
            this.isNew = state.phase !== "over";
            await rest(SECOND);
          }
        }
      }
      if (!this.isNew || !this.isSeen()) await new Promise((done) => { this.wake = done; setTimeout(done, SECOND); });
      else await rest(50);
      this.wake = null;
    }
  }
}

const now = () => state.status && state.status.step;
const fieldOf = (id) => state.fields.find((field) => field.name === by(id).value);
const withUnit = (value, unit) => `${short(value)}${unit && unit !== "1" ? ` ${unit}` : ""}`;

// Section.
let section = null, range = [0, 1], sectionStep = null;
function paintSection() {
  const field = fieldOf("section-field");
  if (!section || !field || !colours) return;
  if (by("section-auto").checked) {
    range = usualRange(field, section.values);
    [by("section-low").value, by("section-high").value] = range.map((end) => Number(end.toPrecision(4)));
  }
  const map = field.signed ? colours.diverging : colours.sequential;
  drawSection(by("section-canvas"), section, range, map, state.levels > 0 && by("section-levels").checked);
  drawBar(by("section-bar"), range, map, getComputedStyle(document.body).color);
}
function sayOfSection(under) {
  const { unit } = fieldOf("section-field"), [a, b] = section.axes;
  const text = under ? `${a} ${short(under.place[0])}, ${b} ${short(under.place[1])}: ${Number.isNaN(under.value) ? "solid" : withUnit(under.value, unit)}${state.levels && under.level !== 255 ? `, level ${under.level}` : ""}` : section.range ? `from ${withUnit(section.range[0], unit)} to ${withUnit(section.range[1], unit)}` : "";
  by("section-text").textContent = `step ${section.step}: ${text}`;
}
const sectionPart = new Part("section", async (isNew) => {
  if (state.phase === "over" || (!isNew && now() === sectionStep)) return false;
  const normal = state.dim === 3 ? by("section-normal").value : "z";
  const step = now();
  section = readSection(await (await ask("section", { field: by("section-field").value, normal, at: state.dim === 3 ? by("section-at").value : 0.5 })).arrayBuffer());
  sectionStep = step;
  by("section-place").textContent = `${short(section.at)} ${state.length}`;
  paintSection();
  sayOfSection();
  return false;
});
for (const id of ["section-field", "section-normal", "section-at"]) by(id).addEventListener("input", () => sectionPart.change());
by("section-field").addEventListener("input", () => (by("section-auto").checked = true));
by("section-auto").addEventListener("input", paintSection);
by("section-levels").addEventListener("input", paintSection);
function chooseRange(ends) {
  if (!ends.every(Number.isFinite) || ends[0] >= ends[1]) return;
  by("section-auto").checked = false;
  range = ends;
  paintSection();
}
for (const id of ["section-low", "section-high"]) by(id).addEventListener("change", () => chooseRange([by("section-low").valueAsNumber, by("section-high").valueAsNumber]));
dragBar(by("section-bar"), () => range, (ends) => {
  chooseRange(ends);
  [by("section-low").value, by("section-high").value] = ends.map((end) => Number(end.toPrecision(4)));
});
by("section-canvas").addEventListener("pointermove", (event) => section && sayOfSection(valueAt(by("section-canvas"), section, event)));
by("section-canvas").addEventListener("pointerleave", () => section && sayOfSection());

// Surface.
let view = null, surface = null, surfaceStep = null;
const surfacePart = new Part("surface", async (isNew) => {
  if (state.phase === "over" || (!isNew && now() === surfaceStep)) return false;
  const value = by("surface-value").value, step = now();
  const values = { field: by("surface-field").value, colour: by("surface-colour").value, ...(value === "" ? {} : { value }) };
  surface = readSurface(await (await ask("surface", values)).arrayBuffer());
  surfaceStep = step;
  if (value === "") by("surface-value").value = Number(surface.value.toPrecision(4));
  by("surface-place").value = (surface.value - surface.least) / (surface.most - surface.least || 1);
  view = view || viewer(by("surface-canvas"));
  const unit = fieldOf("surface-colour").unit;
  by("surface-text").textContent = view
    ? `step ${surface.step}: ${surface.triangles} triangles, coloured from ${withUnit(surface.range[0], unit)} to ${withUnit(surface.range[1], unit)}`
    : "this browser has no WebGL";
  if (view) view.show(surface, fieldOf("surface-colour").signed ? colours.diverging : colours.sequential);
  return false;
});
by("surface-field").addEventListener("input", () => {
  by("surface-value").value = "";
  surfacePart.change();
});
by("surface-colour").addEventListener("input", () => surfacePart.change());
by("surface-value").addEventListener("change", () => surfacePart.change());
by("surface-place").addEventListener("change", () => {
  if (!surface) return;
  by("surface-value").value = Number((surface.least + by("surface-place").valueAsNumber * (surface.most - surface.least)).toPrecision(4));
  surfacePart.change();
});

// Pictures.
let pictureOf = null;
const picturePart = new Part("pictures", async (isNew) => {
  const picture = state.pictures.find((picture) => picture.name === by("picture-name").value);
  const key = `${picture.file} ${now()}`;
  if (!isNew && (key === pictureOf || (state.phase === "over" && state.status))) return false;
  const data = new Uint8Array(await (await ask("picture", { name: picture.file })).arrayBuffer());
  pictureOf = key;
  const kind = data[0] === 0x47 ? "gif" : "png";
  let text = "";
  for (let at = 0; at < data.length; at += 1 << 15) text += String.fromCharCode(...data.subarray(at, at + (1 << 15)));
  Object.assign(by("picture"), { src: `data:image/${kind};base64,${btoa(text)}`, alt: picture.name, hidden: false });
  by("pictures-text").textContent = now() ? `step ${now()}` : picture.file;
  return false;
});
by("picture-name").addEventListener("input", () => picturePart.change());
for (const [id, part] of [["surface", surfacePart], ["pictures", picturePart]]) by(id).addEventListener("toggle", () => part.change());

// Tables.
const tables = new Map();
new Part("tables", async () => {
  for (const { name, bytes } of state.tables) {
    const known = tables.get(name);
    if (known && known.bytes === bytes) continue;
    const data = await (await ask("table", { name })).json();
    if (known && known.show && data) known.show(data);
    if (!data || (known && known.show)) {
      tables.set(name, { ...known, bytes });
      continue;
    }
    const figure = Object.assign(document.createElement("figure"), { className: "plot" });
    figure.append(Object.assign(document.createElement("figcaption"), { textContent: name }));
    by("tables").append(figure);
    tables.set(name, { bytes, show: plot(figure, data) });
  }
  return false;
});

(async () => {
  for (;;) {
    if (!document.hidden || !state) {
      if (!colours) colours = await ask("colours").then((answer) => answer.json()).catch(() => null);
      await look();
      if (state) show("tables", state.tables.length > 0);
    }
    await rest(SECOND);
  }
})();
