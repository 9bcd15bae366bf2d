"use strict";
// Triangles that can be turned, by WebGL. Twelve bytes a corner: place (3 x 16 bits), normal (3 x 8), whether a solid (8), colour (16).

const CORNER = 12;
const VERTEX = `
attribute vec3 place; attribute vec3 normal; attribute float solid; attribute float colour;
uniform mat3 turn; uniform vec3 middle; uniform vec2 scale;
varying vec3 lit; varying float shade; varying float isSolid;
void main() {
  vec3 at = turn * (place - middle);
  lit = turn * normal; shade = colour; isSolid = solid;
  gl_Position = vec4(at.x * scale.x, at.y * scale.y, -at.z * 0.5, 1.0);
}`;
const FRAGMENT = `
precision mediump float;
varying vec3 lit; varying float shade; varying float isSolid;
uniform sampler2D map; uniform vec4 plain;
void main() {
  if (plain.a > 0.0) { gl_FragColor = vec4(plain.rgb, 1.0); return; }
  vec3 colour = isSolid > 0.5 ? vec3(0.6) : texture2D(map, vec2(0.002 + 0.996 * shade, 0.5)).rgb;
  float light = 0.35 + 0.65 * abs(dot(normalize(lit), normalize(vec3(-0.35, 0.45, 0.82))));
  gl_FragColor = vec4(colour * light, 1.0);
}`;

function readSurface(buffer) {
  const { head, start } = message(buffer);
  return { ...head, corners: new Uint8Array(buffer, start) };
}

// Draws surfaces on a canvas; returns null where there is no WebGL.
function viewer(canvas) {
  const gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST);
  const [triangles, edges, map] = [gl.createBuffer(), gl.createBuffer(), gl.createTexture()];
  const uniform = (name) => gl.getUniformLocation(program, name);
  const attributes = ["place", "normal", "solid", "colour"].map((name) => gl.getAttribLocation(program, name));
  let shown = null, angles = [0.5, 0.45], zoom = 1;

  // The directions to the right, upwards and towards the viewer; z points upwards.
  const turned = () => {
    const [around, above] = angles, [c, s, ca, sa] = [Math.cos(around), Math.sin(around), Math.cos(above), Math.sin(above)];
    return [c, -sa * s, ca * s, s, sa * c, -ca * c, 0, ca, sa];
  };
  const draw = () => {
    const paper = matchMedia("(prefers-color-scheme: dark)").matches ? [0.08, 0.09, 0.11] : [1, 1, 1];
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!shown) return;
    const [x, y, z] = shown.box, size = 1.9 * zoom / Math.hypot(x, y, z);
    gl.uniformMatrix3fv(uniform("turn"), false, turned());
    gl.uniform3f(uniform("middle"), x / 2, y / 2, z / 2);
    gl.uniform2f(uniform("scale"), (size * canvas.height) / Math.max(canvas.width, canvas.height), (size * canvas.width) / Math.max(canvas.width, canvas.height));
    gl.uniform4f(uniform("plain"), 0, 0, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, triangles);
    const [place, normal, solid, colour] = attributes;
    attributes.forEach((at) => gl.enableVertexAttribArray(at));
    gl.vertexAttribPointer(place, 3, gl.UNSIGNED_SHORT, true, CORNER, 0);
    gl.vertexAttribPointer(normal, 3, gl.BYTE, true, CORNER, 6);
    gl.vertexAttribPointer(solid, 1, gl.UNSIGNED_BYTE, false, CORNER, 9);
    gl.vertexAttribPointer(colour, 1, gl.UNSIGNED_SHORT, true, CORNER, 10);
    gl.drawArrays(gl.TRIANGLES, 0, 3 * shown.triangles);
    gl.uniform4f(uniform("plain"), 0.5, 0.5, 0.5, 1);
    gl.bindBuffer(gl.ARRAY_BUFFER, edges);
    attributes.slice(1).forEach((at) => gl.disableVertexAttribArray(at));
    gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.LINES, 0, 24);
  };
  const show = (surface, colours) => {
    shown = surface;
    gl.bindBuffer(gl.ARRAY_BUFFER, triangles);
    gl.bufferData(gl.ARRAY_BUFFER, surface.corners, gl.DYNAMIC_DRAW);
    const corner = (at) => [0, 1, 2].map((axis) => (at >> axis & 1) * surface.box[axis]);
    const lines = [0, 1, 2].flatMap((axis) => [0, 1, 2, 3, 4, 5, 6, 7].filter((at) => !(at >> axis & 1)).flatMap((at) => [...corner(at), ...corner(at | 1 << axis)]));
    gl.bindBuffer(gl.ARRAY_BUFFER, edges);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(lines), gl.STATIC_DRAW);
    gl.bindTexture(gl.TEXTURE_2D, map);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, new Uint8Array(colours.flat()));
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    draw();
  };
  let begin = null;
  canvas.addEventListener("pointerdown", (event) => {
    begin = { x: event.clientX, y: event.clientY, angles: [...angles] };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!begin) return;
    angles[0] = begin.angles[0] + (event.clientX - begin.x) * 0.01;
    angles[1] = Math.min(Math.max(begin.angles[1] + (event.clientY - begin.y) * 0.01, -Math.PI / 2), Math.PI / 2);
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (begin = null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom = Math.min(Math.max(zoom * Math.exp(-0.001 * event.deltaY), 0.3), 20);
    draw();
  }, { passive: false });
  return { show };
}
