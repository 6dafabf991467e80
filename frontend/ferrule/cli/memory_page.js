"use strict";
// The page of `ferrule view memory`. Its data: [{label, entries: [{name, peak_bytes, lower_bound_bytes, naive_bytes,
// fullest_time, buffers, timeline}]}]; docs/format.md describes an entry's keys.

const KINDS = {
  activation: ["#4c8bf5", "activation"],
  residual: ["#8b5cf6", "kept for the backward pass"],
  recomputed: ["#14b8a6", "computed again"],
  gradient: ["#f59e0b", "gradient"],
  state: ["#ef4444", "new value of a variable"],
  workspace: ["#94a3b8", "workspace: packed weights, constants"],
};
const MARGIN = {left: 78, right: 14, top: 14, bottom: 26};
const LARGEST = 15;  // rows of the table

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0, value = bytes;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return (unit === 0 ? String(value) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)) + " " + units[unit];
}

function exactText(bytes) {
  return bytes.toString().replace(/\B(?=(\d{3})+$)/g, ",") + " bytes";
}

function arenaBuffers(entry) {
  return entry.buffers.filter((buffer) => buffer.storage === "arena" && buffer.planned_bytes > 0);
}

// The buffer at a time and an address, or null; the smallest where several share bytes on purpose.
function bufferAt(buffers, time, address) {
  let found = null;
  for (const buffer of buffers) {
    if (time < buffer.first_time || time >= buffer.last_time + 1) continue;
    if (address < buffer.offset || address >= buffer.offset + buffer.planned_bytes) continue;
    if (found === null || buffer.planned_bytes < found.planned_bytes) found = buffer;
  }
  return found;
}

// [buffer, ...] live at a time, the largest first; of those that share bytes on purpose, one.
function liveAt(buffers, time) {
  const groups = new Set(), live = [];
  for (const buffer of [...buffers].sort((a, b) => b.planned_bytes - a.planned_bytes)) {
    if (buffer.first_time > time || buffer.last_time < time) continue;
    const group = buffer.block + "." + buffer.alias_group;
    if (buffer.alias_group !== 0 && groups.has(group)) continue;
    groups.add(group);
    live.push(buffer);
  }
  return live;
}

function bytesByKind(buffers) {
  const bytes = {};
  for (const buffer of buffers) bytes[buffer.kind] = (bytes[buffer.kind] || 0) + buffer.planned_bytes;
  return bytes;
}

function describeStep(entry, time) {
  const step = entry.timeline[time];
  return time + ": " + step.op + (step.location ? " at " + step.location : "");
}

function describeBuffer(entry, buffer) {
  const steps = buffer.last_time - buffer.first_time + 1;
  return [
    buffer.name + " (" + KINDS[buffer.kind][1] + ")",
    "made by " + describeStep(entry, buffer.maker_time),
    "last used by " + describeStep(entry, buffer.last_time),
    exactText(buffer.planned_bytes) + (/^\d+$/.test(buffer.size) ? "" : ", " + buffer.size + " in a call"),
    "live for " + steps + (steps === 1 ? " instruction" : " instructions"),
    "arena " + buffer.offset + " to " + (buffer.offset + buffer.planned_bytes),
  ].join("\n");
}

// From times and addresses to points of a canvas of `width` x `height`, and back.
function makeScale(view, top, width, height) {
  const innerWidth = width - MARGIN.left - MARGIN.right, innerHeight = height - MARGIN.top - MARGIN.bottom;
  const span = view.end - view.begin;
  return {
    x: (time) => MARGIN.left + ((time - view.begin) / span) * innerWidth,
    y: (address) => MARGIN.top + (1 - address / top) * innerHeight,
    time: (x) => view.begin + ((x - MARGIN.left) / innerWidth) * span,
    address: (y) => (1 - (y - MARGIN.top) / innerHeight) * top,
  };
}

// `view` scaled by `factor` around a time, within [0, count].
function zoom(view, time, factor, count) {
  const span = Math.min(count, Math.max(1, (view.end - view.begin) * factor));
  return moveTo(time - ((time - view.begin) / (view.end - view.begin)) * span, span, count);
}

function moveTo(begin, span, count) {
  const first = Math.min(Math.max(0, begin), count - span);
  return {begin: first, end: first + span};
}

function drawBuffers(context, scale, view, buffers, hovered) {
  for (const buffer of buffers) {
    if (buffer.last_time + 1 < view.begin || buffer.first_time > view.end) continue;
    const x = scale.x(buffer.first_time), y = scale.y(buffer.offset + buffer.planned_bytes);
    const width = Math.max(0.5, scale.x(buffer.last_time + 1) - x);
    const height = Math.max(0.5, scale.y(buffer.offset) - y);
    context.globalAlpha = buffer === hovered ? 1 : 0.78;
    context.fillStyle = KINDS[buffer.kind][0];
    context.fillRect(x, y, width, height);
    if (width < 3 || height < 3) continue;
    context.globalAlpha = buffer === hovered ? 1 : 0.35;
    context.strokeStyle = "#000";
    context.strokeRect(x, y, width, height);
  }
  context.globalAlpha = 1;
}

function drawLive(context, scale, entry, ink) {
  context.beginPath();
  context.moveTo(scale.x(0), scale.y(0));
  entry.timeline.forEach((step, time) => {
    context.lineTo(scale.x(time), scale.y(step.live_bytes));
    context.lineTo(scale.x(time + 1), scale.y(step.live_bytes));
  });
  context.lineTo(scale.x(entry.timeline.length), scale.y(0));
  context.globalAlpha = 0.08;
  context.fillStyle = ink;
  context.fill();
  context.globalAlpha = 0.9;
  context.strokeStyle = ink;
  context.stroke();
  context.globalAlpha = 1;
}

function drawLevel(context, scale, bytes, text, dashes, ink, width, below) {
  context.setLineDash(dashes);
  context.strokeStyle = context.fillStyle = ink;
  context.beginPath();
  context.moveTo(MARGIN.left, scale.y(bytes));
  context.lineTo(width - MARGIN.right, scale.y(bytes));
  context.stroke();
  context.setLineDash([]);
  context.textAlign = "right";
  context.fillText(text, width - MARGIN.right - 4, scale.y(bytes) + (below ? 13 : -4));
}

// The round numbers from `begin` to `end`, about five of them: multiples of a power of `base` times one of `factors`.
function roundNumbers(begin, end, base, factors) {
  const least = Math.max(1, (end - begin) / 5);
  let power = 1, step = null;
  while (step === null) {
    step = factors.map((factor) => factor * power).find((candidate) => candidate >= least) || null;
    power *= base;
  }
  const numbers = [];
  for (let number = Math.ceil(begin / step) * step; number <= end; number += step) numbers.push(number);
  return numbers;
}

function drawAxes(context, scale, view, top, ink, width, height) {
  context.fillStyle = ink;
  context.textAlign = "right";
  for (const bytes of roundNumbers(0, top, 2, [1])) {
    context.fillText(bytesText(bytes), MARGIN.left - 6, scale.y(bytes) + 4);
  }
  context.textAlign = "center";
  for (const time of roundNumbers(view.begin, view.end, 10, [1, 2, 5])) {
    context.fillText(String(time), scale.x(time), height - 8);
  }
}

function start(document, window) {
  const plans = JSON.parse(document.getElementById("plans").textContent);
  const element = (name) => document.getElementById(name);
  const canvas = element("chart"), tip = element("tip");
  let entry, buffers, view, scale, hovered = null, dragged = null;

  const fillSelect = (select, texts) => {
    select.replaceChildren(...texts.map((text, index) => {
      const option = document.createElement("option");
      option.value = String(index);
      option.textContent = text;
      return option;
    }));
  };

  const draw = () => {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "11px system-ui, sans-serif";
    const ink = window.getComputedStyle(document.body).color;
    const top = Math.max(64, entry.peak_bytes) * 1.04;
    scale = makeScale(view, top, width, height);
    drawAxes(context, scale, view, top, ink, width, height);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, 0, width - MARGIN.left - MARGIN.right, height - MARGIN.bottom);
    context.clip();
    drawBuffers(context, scale, view, buffers, hovered);
    drawLive(context, scale, entry, ink);
    drawLevel(context, scale, entry.peak_bytes, "peak", [], ink, width, false);
    drawLevel(context, scale, entry.lower_bound_bytes, "lower bound", [6, 4], ink, width, true);
    context.restore();
  };

  const addRow = (table, kind, texts) => {
    const row = document.createElement("tr");
    for (const text of texts) {
      const cell = document.createElement(kind);
      cell.textContent = text;
      row.appendChild(cell);
    }
    table.appendChild(row);
  };

  const showNumbers = () => {
    const share = entry.lower_bound_bytes === 0 ? 1 : entry.peak_bytes / entry.lower_bound_bytes;
    const facts = [
      ["peak", bytesText(entry.peak_bytes) + " (" + exactText(entry.peak_bytes) + ")"],
      ["lower bound", bytesText(entry.lower_bound_bytes) + ", peak is " + share.toFixed(4) + " of it"],
      ["every buffer apart", bytesText(entry.naive_bytes)],
      ["instructions", String(entry.timeline.length)],
      ["buffers", String(buffers.length)],
    ];
    element("numbers").replaceChildren(...facts.map(([name, text]) => {
      const span = document.createElement("span"), value = document.createElement("b");
      span.textContent = name + " ";
      value.textContent = text;
      span.appendChild(value);
      return span;
    }));
  };

  const showFullest = () => {
    const live = liveAt(buffers, entry.fullest_time), bytes = bytesByKind(live);
    element("legend").replaceChildren(...Object.keys(KINDS).map((kind) => {
      const span = document.createElement("span"), swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = KINDS[kind][0];
      span.appendChild(swatch);
      span.append(KINDS[kind][1] + (bytes[kind] ? ": " + bytesText(bytes[kind]) + " at the fullest moment" : ""));
      return span;
    }));
    const table = element("largest"), caption = document.createElement("caption");
    table.replaceChildren(caption);
    caption.textContent = "The largest of " + live.length + " buffers that are live when most is, at instruction " +
      (entry.timeline.length ? describeStep(entry, entry.fullest_time) : "0");
    addRow(table, "th", ["bytes", "kind", "made by", "line"]);
    for (const buffer of live.slice(0, LARGEST)) {
      const maker = entry.timeline[buffer.maker_time];
      addRow(table, "td", [bytesText(buffer.planned_bytes), KINDS[buffer.kind][1], maker.op, maker.location]);
    }
  };

  const showEntry = () => {
    entry = plans[element("artifact").value].entries[element("entry").value];
    buffers = arenaBuffers(entry);
    view = {begin: 0, end: Math.max(1, entry.timeline.length)};
    hovered = null;
    showNumbers();
    showFullest();
    draw();
  };

  const showArtifact = () => {
    const wanted = entry ? entry.name : null, entries = plans[element("artifact").value].entries;
    fillSelect(element("entry"), entries.map((each) => each.name));
    element("entry").value = String(Math.max(0, entries.findIndex((each) => each.name === wanted)));
    showEntry();
  };

  const count = () => Math.max(1, entry.timeline.length);
  canvas.addEventListener("mousemove", (event) => {
    if (dragged !== null) {
      const moved = scale.time(event.offsetX) - scale.time(dragged);
      view = moveTo(view.begin - moved, view.end - view.begin, count());
      dragged = event.offsetX;
      draw();
      return;
    }
    const found = bufferAt(buffers, scale.time(event.offsetX), scale.address(event.offsetY));
    tip.style.display = found === null ? "none" : "block";
    if (found !== null) {
      tip.textContent = describeBuffer(entry, found);
      tip.style.left = Math.min(event.clientX + 14, window.innerWidth - 380) + "px";
      tip.style.top = Math.min(event.clientY + 14, window.innerHeight - 150) + "px";
    }
    if (found !== hovered) {
      hovered = found;
      draw();
    }
  });
  canvas.addEventListener("mouseleave", () => {
    tip.style.display = "none";
    dragged = null;
  });
  canvas.addEventListener("mousedown", (event) => { dragged = event.offsetX; });
  canvas.addEventListener("mouseup", () => { dragged = null; });
  canvas.addEventListener("dblclick", () => {
    view = {begin: 0, end: count()};
    draw();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view = zoom(view, scale.time(event.offsetX), event.deltaY < 0 ? 0.8 : 1.25, count());
    draw();
  });
  window.addEventListener("resize", draw);
  element("artifact").addEventListener("change", showArtifact);
  element("entry").addEventListener("change", showEntry);
  fillSelect(element("artifact"), plans.map((plan) => plan.label));
  showArtifact();
}

if (typeof document !== "undefined") start(document, window);
