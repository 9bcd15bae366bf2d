#!/usr/bin/env python3
"""What two GPUs do over time: how kernels overlap with what crosses between the parts of a flow, as pictures and numbers.

    benchmarks/timeline.py LBMC OUT [CASE...] [--seconds 90] [--steps 2]
    benchmarks/timeline.py draw OUT

LBMC is a release build of lbmc, OUT where the results go: NAME.svg, NAME.csv.gz with what was recorded, timeline.json, log.txt with what each
command said. CASE is one of cavity192, cavity3d_agal and cavity512, or a case file; without it, these three. Needs two GPUs, gcc and CUPTI,
which comes with the CUDA toolkit. Begins nothing more after so many seconds, and goes on where something fails; its exit status is 1 then.
`draw` draws again what lies in OUT, without a GPU.

benchmarks/timeline.c records all kernels, also those of graphs. A window of so many steps of the coarsest level is drawn, of a launch of the
last graph that took as long as most (NAME-change.svg: the longest pause, where the grid changes). Shares in timeline.json, of a window or of the run:

    computes   any kernel runs but those that send
    sends      a kernel runs that writes to the other GPU (move_N; where the grid changes, some of these pack what the host reads)
    hidden     of the time in which it sends, the part in which the same GPU also computes
    idle       nothing runs, no copy either
"""

import argparse
import bisect
import csv
import functools
import gzip
import json
import math
import os
import runpy
import shutil
import statistics
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
BEGUN = time.monotonic()

# Pauses of both GPUs from so many ns on are the host's.
PAUSE = 100_000


# How commands are run, and a case, are those of the other benchmark of two GPUs.
SHARED = runpy.run_path(str(ROOT / "benchmarks/several-gpus.py"))
Failed, run, CAVITY = SHARED["Failed"], SHARED["run"], SHARED["CAVITY"]


# ---- cases ---------------------------------------------------------------------------------------------------------------------------------


def cases():
    """Name, title, text, what is set."""
    agal = (ROOT / "benchmarks/cavity3d_agal.toml").read_text().split("[output]")[0]
    return [
        ("cavity192", "Cavity of 192\u00b3 cells, D3Q27, fp32", CAVITY, ["stop.steps=400"]),
        ("cavity3d_agal", "cavity3d_agal: four levels that follow the flow, D3Q19, fp32", agal, ["stop.steps=64"]),
        (
            "cavity512",
            "cavity512: three levels, 82 million cells, D3Q19, fp32",
            (ROOT / "benchmarks/cavity512.toml").read_text(),
            ["stop.steps=20"],
        ),
    ]


# ---- recording -----------------------------------------------------------------------------------------------------------------------------


def toolkits():
    """Folders in which a CUDA toolkit may be, or the packages of PyPI that have parts of one."""
    found = [os.environ.get(name) for name in ("LBMC_CUDA", "CUDA_HOME", "CUDA_PATH")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        found += [Path(nvcc).parent.parent, Path(nvcc).resolve().parent.parent]
    found += ["/usr/local/cuda", *sorted(Path("/usr/local").glob("cuda-*"), reverse=True), *sorted(Path("/opt").glob("cuda*"))]
    sites = {sysconfig.get_path(name) for name in ("purelib", "platlib")} | {path for path in sys.path if path.endswith("-packages")}
    for site in sorted(filter(None, sites)):
        found += sorted(Path(site).glob("nvidia/cu[0-9]*"), reverse=True) + sorted(Path(site).glob("nvidia/cuda_*"))
    return [path for path in dict.fromkeys(Path(path).resolve() for path in found if path) if path.is_dir()]


def build(work, log):
    """The library that records, and folders in which its own libraries are."""
    roots = toolkits()

    def folders(*names):
        return [root / name for root in roots for name in names if (root / name).is_dir()]

    includes = folders("extras/CUPTI/include", "include", "targets/x86_64-linux/include", "targets/sbsa-linux/include")
    places = folders("extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
    libraries = [path for folder in places for path in sorted(folder.glob("libcupti.so*"))]
    if not libraries or not any((folder / "cupti.h").is_file() for folder in includes):
        raise Failed(f"no CUPTI (cupti.h, libcupti.so) in {', '.join(map(str, roots)) or 'any place of a CUDA toolkit'}")
    built, said = work / "timeline.so", []
    # Headers and library of one toolkit come first.
    for library in libraries:
        near = sorted(includes, key=lambda folder: -len(os.path.commonpath([folder, library])))
        command = ["gcc", "-shared", "-fPIC", "-O2", ROOT / "benchmarks/timeline.c", "-o", built]
        command += [f"-I{folder}" for folder in near] + [library, f"-Wl,-rpath,{library.parent}", "-lpthread"]
        try:
            run(command, log, 30)
            return built, [library.parent]
        except (Failed, OSError) as error:
            said.append(str(error))
    raise Failed("\n".join(said))


def flow(case, folder, settings, log, limit, env=None):
    """The summary of a case on two GPUs."""
    shutil.rmtree(folder, ignore_errors=True)
    words = [word for setting in settings for word in ("--set", setting)]
    run([ARGS.lbmc, "run", case, "--set", "target=cuda", "--devices", "2", "--out", folder, *words], log, limit, env=env)
    return json.loads((folder / "summary.json").read_text())


def left(limit):
    return max(5.0, min(limit, ARGS.seconds + 10 - (time.monotonic() - BEGUN)))


def record(case, name, settings, tool, work, log):
    """Runs a case under the library: where the records are, and its summary, if it came to one."""
    library, folders = tool
    at = work / f"{name}.csv"
    paths = [str(folder) for folder in folders] + [path for path in [os.environ.get("LD_LIBRARY_PATH")] if path]
    env = {**os.environ, "CUDA_INJECTION64_PATH": str(library), "TIMELINE": str(at), "LD_LIBRARY_PATH": ":".join(paths)}
    try:
        summary, error = flow(case, work / name, settings, log, left(60), env), None
    except Failed as failed:
        # A program that fails as it ends has left its records.
        summary, error = {}, failed
    if not at.is_file():
        raise error or Failed("the library was not loaded: no records were written (does the driver read CUDA_INJECTION64_PATH?)")
    if error and at.stat().st_size < 1000:
        raise error
    return at, summary, error


# ---- what was recorded ---------------------------------------------------------------------------------------------------------------------


class Record:
    """A kernel, a copy or a fill."""

    __slots__ = ("device", "start", "end", "name", "blocks", "graph", "node", "launch", "kind", "edge")

    def __init__(self, row):
        self.device, self.start, self.end = int(row["device"]), int(row["start"]), int(row["end"])
        self.name, self.blocks = row["name"], int(row["blocks"])
        self.graph, self.node, self.launch = int(row["graph"]), int(row["node"]), int(row["launch"])
        self.kind, self.edge = kind_of(self.name), None

    def streams(self):
        return self.kind in STREAMING


STREAMING = ("stream_collide", "stream_collide_walls", "stream_collide_interface", "stream_collide_interface_walls", "stream_collide, others")
# Kinds of kernels, their colours, and those of blocks at the edge of a part; short names for bars.
KINDS = {
    "stream_collide": ("#7ba6d4", "#2f6199", "inside"),
    "stream_collide_walls": ("#6fc0ae", "#1f7a68", "walls"),
    "stream_collide_interface": ("#b5c25f", "#75811c", "interface"),
    "stream_collide_interface_walls": ("#dfb35a", "#9c7112", "interface, walls"),
    "stream_collide, others": ("#a99bc9", "#67558f", "stream"),
    "to_fine": ("#b48ac4", "#b48ac4", "to fine"),
    "to_coarse": ("#7f5a93", "#7f5a93", "to coarse"),
    "to the other GPU": ("#d9261c", "#d9261c", "sends"),
    "changes of the grid": ("#c98b6b", "#c98b6b", "grid"),
    "other kernels": ("#9aa0a6", "#9aa0a6", "other"),
    "copies, fills": ("#ced2d6", "#ced2d6", "copy"),
}
SENDS, COPIES = "to the other GPU", "copies, fills"
# Methods' kernels that run only where the grid changes.
OF_CHANGES = ("interface_masks", "interface_cells", "average", "fill", "relocate", "hold", "keep", "accumulators")


def kind_of(name):
    if name.startswith("["):
        return COPIES
    if name.startswith("move_"):
        return SENDS
    if name.startswith("mesh_"):
        return "changes of the grid"
    if "_stream_collide" in name:
        kind = name[name.index("_stream_collide") + 1 :]
        return kind if kind in KINDS else "stream_collide, others"
    for kind in ("to_fine", "to_coarse"):
        if name.endswith((f"_{kind}", f"_{kind}_walls")):
            return kind
    return "changes of the grid" if any(f"_{word}" in name for word in OF_CHANGES) else "other kernels"


def read(path):
    """Records by their begin, and what the library says of those that are missing."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        lines = file.read().splitlines()
    notes = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
    records = [Record(row) for row in csv.DictReader(line for line in lines if not line.startswith("#"))]
    return sorted(records, key=lambda record: record.start), notes


def by_launch(records):
    """Launches of graphs, by their begin: what each ran."""
    launches = defaultdict(list)
    of_graphs = [record for record in records if record.graph or record.node]
    for record in of_graphs:
        launches[record.launch].append(record)
    if 2 * len(launches) > len(of_graphs):
        # Nodes of a launch have no number in common: a node runs once in each.
        launches, times = defaultdict(list), Counter()
        for record in of_graphs:
            times[record.graph, record.node] += 1
            launches[record.graph, times[record.graph, record.node]].append(record)
        for launch in launches.values():
            for record in launch:
                record.launch = launch[0].launch
    return sorted(launches.values(), key=lambda launch: launch[0].start)


def find_edges(records):
    """Whether blocks of a launch are at the edge of a part: they are launched before those inside, by the same kernel.

    Nodes of a graph are numbered in the order in which they were recorded. False, and nothing is known, where that does not fit.
    """
    pairs, grids = [], {True: set(), False: set()}
    for device in {record.device for record in records}:
        own = [record for record in records if record.device == device and record.kind != COPIES]
        own.sort(key=lambda record: (record.launch, record.node, record.start))
        at = 0
        while at < len(own):
            first, end = own[at], at + 1
            of_graph = bool(first.graph or first.node)
            while end < len(own) and own[end].name == first.name and (own[end].launch == first.launch or not of_graph):
                end += 1
            if end - at == 2 and first.streams():
                pairs.append(own[at:end])
            at = end
    for edge, inside in pairs:
        edge.edge, inside.edge = True, False
    recorded = [pair for pair in pairs if pair[0].graph or pair[0].node]
    early = sum(edge.start <= inside.start for edge, inside in recorded)
    # Those that were launched one by one are in order for certain.
    for edge, inside in pairs:
        if not (edge.graph or edge.node):
            for record in (edge, inside):
                grids[record.edge].add((record.device, record.name, record.blocks))
    known = {grid: is_edge for is_edge in (True, False) for grid in grids[is_edge] - grids[not is_edge]}
    told = [(known.get((record.device, record.name, record.blocks)), record.edge) for pair in recorded for record in pair]
    right, wrong = (sum(is_edge is not None and (is_edge == edge) == same for is_edge, edge in told) for same in (True, False))
    if 2 * early < len(recorded) or wrong > right:
        for record in records:
            record.edge = None
        return False
    return bool(recorded)


def clocks(launches):
    """How much the clock of the second GPU may be ahead of that of the first, in ns, at least and at most: launches follow each other on both."""
    least = {}
    for before, after in zip(launches, launches[1:]):
        for first, second in ((0, 1), (1, 0)):
            ends = [record.end for record in before if record.device == first]
            starts = [record.start for record in after if record.device == second]
            if ends and starts:
                gap = min(starts) - max(ends)
                least[first] = min(gap, least.get(first, gap))
    return (-least[1], least[0]) if set(least) == {0, 1} else None


def shift(records, launches):
    """Puts the second GPU's clock right where it must be wrong; what was found, in us."""
    bounds = clocks(launches)
    if bounds is None:
        return None
    low, high = bounds
    off = (low + high) // 2 if low <= high and not low <= 0 <= high else 0
    if off:
        for record in records:
            if record.device == 1:
                record.start, record.end = record.start - off, record.end - off
        records.sort(key=lambda record: record.start)
        for launch in launches:
            launch.sort(key=lambda record: record.start)
    return {"second_ahead_at_least_us": low / 1e3, "at_most_us": high / 1e3, "corrected_by_us": off / 1e3}


def window(records, launches, wanted, step):
    """From when to when, when steps begin, and how many steps a launch has: of a launch of the last graph that took as long as most.

    Where no graphs are known, of so many steps of about `step` ns near the end.
    """
    if not launches:
        end = max((record.end for record in records if record.streams()), default=0) - step
        if not step or end <= 0:
            raise Failed("no graph was launched: there are no recorded steps")
        return end - wanted * step, end, [], None
    first = min(record.device for launch in launches for record in launch)
    own = [launch for launch in launches if any(record.device == first for record in launch)]
    same = [launch for launch in own if launch[0].graph == own[-1][0].graph]
    # The next launch says when all of a launch is done.
    begins = [launch[0].start for launch in same]
    ends = begins[1:] + [max(record.end for record in same[-1])]
    inner = range(1, len(same) - 1) if len(same) > 3 else range(len(same))
    middle = statistics.median_low(ends[at] - begins[at] for at in inner)
    chosen = max(at for at in inner if ends[at] - begins[at] == middle)
    begin, end = begins[chosen], ends[chosen]
    launch = [record for record in same[chosen] if record.device == first]
    counts = Counter((record.name, record.blocks) for record in launch)
    steps = functools.reduce(math.gcd, counts.values())
    # What each step does once, and first: the coarsest level sends to the next, or streams.
    once = [record for record in launch if record.kind != SENDS and counts[record.name, record.blocks] == steps]
    if not once:
        return begin, end, [begin], steps
    mark = min(once, key=lambda record: (record.kind != "to_fine", record.start))
    starts = [record.start for record in launch if (record.name, record.blocks) == (mark.name, mark.blocks)]
    if steps > wanted:
        at = (steps - wanted) // 2
        return starts[at], (starts + [end])[at + wanted], starts[at : at + wanted], steps
    return begin, end, starts, steps


# ---- shares --------------------------------------------------------------------------------------------------------------------------------


def union(intervals):
    """Intervals that do not touch, of sorted ones."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        elif end > start:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(one, other):
    """What two unions have in common."""
    shared, at = [], 0
    for start, end in one:
        while at < len(other) and other[at][1] <= start:
            at += 1
        here = at
        while here < len(other) and other[here][0] < end:
            shared.append([max(start, other[here][0]), min(end, other[here][1])])
            here += 1
    return shared


def clipped(records, begin, end):
    return [(max(begin, record.start), min(end, record.end)) for record in records if record.end > begin and record.start < end]


def shares(records, begin, end):
    """What each GPU does of a window."""
    found = {}
    for device in sorted({record.device for record in records}):
        own = [record for record in records if record.device == device]
        computes = union(clipped((record for record in own if record.kind not in (SENDS, COPIES)), begin, end))
        sends = union(clipped((record for record in own if record.kind == SENDS), begin, end))
        both, busy = common(sends, computes), union(clipped(own, begin, end))
        found[device] = {
            "computes": round(length(computes) / (end - begin), 5),
            "sends": round(length(sends) / (end - begin), 5),
            "hidden": round(length(both) / length(sends), 5) if sends else None,
            "idle": round(1 - length(busy) / (end - begin), 5),
        }
    return found


def whole(records):
    """The run from the first block that streams to the last: how much of it, and when, both GPUs had nothing to do."""
    streamed = [record for record in records if record.streams()]
    if not streamed:
        raise Failed("nothing streamed")
    begin, end = streamed[0].start, max(record.end for record in streamed)
    busy = union(clipped(records, begin, end))
    pauses = [(one[1], other[0]) for one, other in zip(busy, busy[1:])]
    longer = [pause for pause in pauses if pause[1] - pause[0] > PAUSE]
    starts = [record.start for record in records]
    by_end = sorted(records, key=lambda record: record.end)
    ends = [record.end for record in by_end]
    longest = []
    for start, stop in sorted(longer, key=lambda pause: pause[0] - pause[1])[:12]:
        before, after = by_end[bisect.bisect_right(ends, start) - 1], records[bisect.bisect_left(starts, stop)]
        longest.append({"ms": round((stop - start) / 1e6, 3), "at_ms": round((start - begin) / 1e6, 3), "after": before.name, "before": after.name})
    changing = [record for record in records if record.kind == "changes of the grid" and begin <= record.start < end]
    return {
        "ms": round((end - begin) / 1e6, 3),
        "kernels": sum(record.kind != COPIES for record in records),
        "gpus": shares(records, begin, end),
        "both_idle": round(length(pauses) / (end - begin), 5),
        "both_idle_in_pauses_over_100_us": round(length(longer) / (end - begin), 5),
        "pauses_over_100_us": len(longer),
        "longest_pauses": longest,
        "kernels_that_change_the_grid": len(changing),
    }


def pause_window(records, launches):
    """Around the longest pause of both GPUs: from the graph before it to the one after it. None where there is none."""
    if not launches:
        return None
    begin, end = launches[0][0].start, launches[-1][0].start
    busy = union(clipped(records, begin, end))
    pauses = [(one[1], other[0]) for one, other in zip(busy, busy[1:]) if other[0] - one[1] > PAUSE]
    if not pauses:
        return None
    start, stop = max(pauses, key=lambda pause: pause[1] - pause[0])
    before = max(record.end for launch in launches if launch[0].start < start for record in launch if record.end <= start)
    after = min((launch[0].start for launch in launches if launch[0].start >= stop), default=stop)
    around = max((after - before) // 6, 1_000_000)
    return before - around, after + around


# ---- drawing -------------------------------------------------------------------------------------------------------------------------------

WIDTH, LEFT, RIGHT, BAR = 1000, 78, 12, 13


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def lanes_of(bars, most):
    """Bars in as few rows as do not overlap, at most so many, each kind where it was before; each with its row."""
    free, last, placed = [], [], []
    for start, end, *rest in bars:
        fit = [at for at, until in enumerate(free) if until <= start]
        lane = next((at for at in fit if last[at] == rest), fit[0] if fit else min(len(free), most - 1))
        if lane == len(free):
            free.append(end)
            last.append(rest)
        free[lane], last[lane] = max(end, free[lane]), rest
        placed.append((lane, start, end, *rest))
    return placed, max(len(free), 1)


def merged(bars, least):
    """Bars of a row, in pixels, without any that is narrower than `least`."""
    kept = []
    for x0, x1, colour, label in bars:
        before = kept[-1] if kept else None
        narrow = before and (x1 - x0 < least or before[2] == colour and min(x1 - x0, before[1] - before[0]) < 2)
        if narrow and x0 - before[1] < least:
            before[1], before[3] = max(x1, before[1]), ""
        else:
            kept.append([x0, x1, colour, label])
    return kept


def tick(span):
    """A round distance of ticks."""
    size = 10 ** math.floor(math.log10(span / 6))
    return next(size * factor for factor in (1, 2, 5, 10) if span / (size * factor) <= 10)


def percent(share):
    return "\u2013" if share is None else f"{100 * share:.1f} %"


def draw(title, records, begin, end, starts, least=0.2):
    """A picture of what GPUs do from `begin` to `end`; `starts`: when steps begin."""
    inner = WIDTH - LEFT - RIGHT
    shown = [record for record in records if record.end > begin and record.start < end]
    found, out, rows = shares(shown, begin, end), [], []

    def at(moment):
        return LEFT + (moment - begin) * inner / (end - begin)

    def text(x, y, words, of="n"):
        out.append(f'<text class="{of}" x="{number(x)}" y="{number(y)}">{escape(words)}</text>')

    text(10, 20, title, "t")

    # The legend: what is shown, blocks at the edge darker.
    x, y = 10, 40
    for kind, (colour, dark, _) in KINDS.items():
        of_kind = [record for record in shown if record.kind == kind]
        edges = [] if colour == dark else [record for record in of_kind if record.edge]
        if not of_kind:
            continue
        wide = 20 + 6.1 * len(kind) + (14 if edges else 0)
        if x + wide > WIDTH - RIGHT:
            x, y = 10, y + 17
        for shade in [dark, colour] if edges else [colour]:
            out.append(f'<path fill="{shade}" d="M{number(x)} {y - 9}h12v10h-12z"/>')
            x += 14
        text(x + 1, y, kind)
        x += wide - (28 if edges else 14)
    y += 12

    for device in sorted({record.device for record in shown}):
        share = found[device]
        y += 14
        words = f"computes {percent(share['computes'])} of the time, sends {percent(share['sends'])}"
        if share["hidden"] is not None:
            words += f" ({percent(share['hidden'])} of that beside computing)"
        text(10, y, f"GPU {device}", "g")
        text(LEFT, y, f"{words}, idle {percent(share['idle'])}", "s")
        y += 5
        others = sorted({record.device for record in shown} - {device})
        for sends, label in [(False, "kernels"), (True, f"to GPU {others[0]}" if len(others) == 1 else "to others")]:
            bars = []
            for record in shown:
                if record.device == device and (record.kind == SENDS) == sends:
                    light, dark, short = KINDS[record.kind]
                    short = {True: "edge", False: "inside"}.get(record.edge, short) if record.kind == "stream_collide" else short
                    short = f"{short}, edge" if record.edge and record.kind != "stream_collide" else short
                    bars.append((record.start, record.end, dark if record.edge else light, short))
            placed, count = lanes_of(bars, 3 if sends else 5)
            rows.append((y, y + BAR * count))
            text(LEFT - 6, y + BAR * count / 2 + 4, label, "l")
            out.append(f'<path fill="#f3f4f5" d="M{LEFT} {y}h{inner}v{BAR * count}h-{inner}z"/>')
            paths, labels = defaultdict(list), []
            for lane in range(count):
                own = [(at(max(begin, b)), at(min(end, e)), colour, short) for of, b, e, colour, short in placed if of == lane]
                for x0, x1, colour, short in merged(own, least):
                    # Wide bars that follow each other stay apart.
                    wide, height = max(x1 - x0 - (0.4 if x1 - x0 > 2 else 0), 0.3), BAR - 1
                    paths[colour].append(f"M{number(x0)} {y + BAR * lane + 0.5}h{number(wide)}v{height}h-{number(wide)}z")
                    if short and wide > 5.4 * len(short) + 6:
                        labels.append(((x0 + x1) / 2, y + BAR * lane + 10, short, colour))
            out += [f'<path fill="{colour}" d="{"".join(parts)}"/>' for colour, parts in paths.items()]
            for x0, y0, short, colour in labels:
                text(x0, y0, short, "b" if luminance(colour) < 0.45 else "k")
            y += BAR * count + (2 if not sends else 6)
    y += 2

    # The axis, and where steps begin.
    unit, per = ("\u00b5s", 1e3) if end - begin < 2e7 else ("ms", 1e6)
    step = tick((end - begin) / per)
    for count in range(int((end - begin) / per / step) + 1):
        x0 = at(begin + count * step * per)
        out.append(f'<path class="a" d="M{number(x0)} {y}v4"/>')
        words = number(count * step)
        text(min(x0, WIDTH - RIGHT - 14), y + 15, f"{words} {unit}" if count == 0 else words, "m")
    out.append(f'<path class="a" d="M{LEFT} {y}h{inner}"/>')
    dashes = "".join(f"M{number(at(start))} {top}V{low}" for start in starts if begin <= start <= end for top, low in rows)
    if dashes:
        out.append(f'<path class="d" d="{dashes}"/>')
    y += 31
    said = ["A dashed line: a step of the coarsest level begins."] if dashes else []
    said += ["Dark: blocks at the edge of a part, light: those inside."] if any(record.edge for record in shown) else []
    if said:
        text(LEFT, y, " ".join(said), "s")
        y += 6
    style = (
        "text{font:11px sans-serif;fill:#222}.t{font-size:14px;font-weight:bold}.g{font-weight:bold}.s{fill:#555}.l{text-anchor:end;fill:#555}"
        ".m{text-anchor:middle;fill:#555}.b,.k{text-anchor:middle;font-size:9.5px}.b{fill:#fff}.k{fill:#111}.a{stroke:#888;fill:none}"
        ".d{stroke:#222;stroke-width:.8;stroke-dasharray:3 3;fill:none}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number(y + 6)}" width="{WIDTH}" height="{number(y + 6)}">'
    svg = "\n".join([head, f"<style>{style}</style>", '<rect width="100%" height="100%" fill="#fff"/>', *out, "</svg>"]) + "\n"
    return draw(title, records, begin, end, starts, 2 * least) if len(svg) > 140_000 and least < 3 else svg


def luminance(colour):
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.3 * red + 0.59 * green + 0.11 * blue


# ---- all together --------------------------------------------------------------------------------------------------------------------------


def on(gpus):
    """`on 2 NVIDIA H100`, of what nvidia-smi lists."""
    names = [line.split(",")[0].strip() for line in gpus.splitlines() if line.strip()][:2]
    return f" on {len(names)} {names[0]}" if len(set(names)) == 1 and names else f" on {' and '.join(names)}" if names else ""


def analyse(name, title, gpus, path, out, wanted, summary):
    """Draws what was recorded of a case; its numbers."""
    records, notes = read(path)
    if not records:
        raise Failed(f"nothing was recorded ({notes}): log.txt has what CUPTI said")
    if len({record.device for record in records}) < 2:
        raise Failed("all records are of one GPU")
    launches = by_launch(records)
    edges = find_edges(records)
    clock = shift(records, launches[-60:])
    step = round(1e9 * (summary.get("seconds") or 0) / (summary.get("steps") or 1))
    begin, end, starts, steps = window(records, launches, wanted, step)
    (out / f"{name}.svg").write_text(draw(f"{title},{on(gpus)}" if gpus else title, records, begin, end, starts))
    found = {
        "notes": notes,
        "edges_known": edges,
        "clocks": clock,
        "launches_of_graphs": len(launches),
        "steps_in_a_launch": steps,
        "window": {"us": (end - begin) / 1e3, "steps": len(starts), "gpus": shares(records, begin, end)},
        "run": whole(records),
    }
    silent = [device for device in (0, 1) if not found["window"]["gpus"].get(device, {}).get("computes")]
    if silent:
        found["warning"] = f"no kernel of GPU {silent[0]} was recorded in the window: its nodes of the graph are missing, or told as the other's"
    around = pause_window(records, launches)
    if around and found["run"]["kernels_that_change_the_grid"]:
        picture = draw(f"{title.split(':')[0]}, a change of the grid,{on(gpus)}", records, *around, [])
        (out / f"{name}-change.svg").write_text(picture)
        found["change"] = {"ms": round((around[1] - around[0]) / 1e6, 3), "gpus": shares(records, *around)}
    return found


def report(name, found):
    row = found["window"]
    for device, share in row["gpus"].items():
        hidden = "  -  " if share["hidden"] is None else f"{share['hidden']:.3f}"
        print(
            f"{name:14} GPU {device}: of {row['us']:.0f} us ({row['steps']} steps) computes {share['computes']:.3f}, sends {share['sends']:.3f}, "
            f"of it beside computing {hidden}, idle {share['idle']:.3f}"
        )
    run_ = found["run"]
    print(
        f"{name:14} run of {run_['ms']:.1f} ms: both idle {run_['both_idle']:.3f}, in pauses over 100 us {run_['both_idle_in_pauses_over_100_us']:.3f} "
        f"({run_['pauses_over_100_us']})"
    )
    if "warning" in found:
        print(f"WARNING {name}: {found['warning']}")
    for pause in run_["longest_pauses"][:4]:
        print(f"{'':14}   {pause['ms']:.2f} ms at {pause['at_ms']:.1f} ms, after {pause['after']}, before {pause['before']}")
    print(f"{'':14} edges known: {found['edges_known']}; clocks {found['clocks']}; {found['notes']}", flush=True)


def fail(results, name, error):
    results["failures"][name] = str(error)
    print(f"FAILED {name}: {error}\n", flush=True)


def save(results):
    results["seconds"] = time.monotonic() - BEGUN
    (ARGS.out / "timeline.json").write_text(json.dumps(results, indent=1) + "\n")


def measure(results, log, work):
    try:
        asked = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
        results["gpus"] = run(["nvidia-smi", *asked], log, 20)
        print(results["gpus"], end="", flush=True)
    except (Failed, OSError) as error:
        fail(results, "nvidia-smi", error)
    try:
        tool = build(work, log)
    except (Failed, OSError) as error:
        return fail(results, "timeline.so", error)
    known = {case[0]: case for case in cases()}
    named = [known.get(name) or (Path(name).stem, Path(name).stem, Path(name).read_text(), []) for name in ARGS.case or known]
    for name, title, text, settings in named:
        if time.monotonic() - BEGUN > ARGS.seconds:
            results["left_out"].append(name)
            continue
        try:
            case = work / f"{name}.toml"
            case.write_text(text)
            path, summary, error = record(case, name, settings, tool, work, log)
            if error:
                fail(results, f"{name}, which has left records", error)
            kept = ARGS.out / f"{name}.csv.gz"
            with open(path, "rb") as plain, gzip.open(kept, "wb", 6) as packed:
                shutil.copyfileobj(plain, packed)
            found = results["cases"].setdefault(name, {"title": title, "settings": settings})
            found["recorded"] = {key: summary.get(key) for key in ("mlups", "steps", "cells", "seconds", "phases", "adaptations")}
            found.update(analyse(name, title, results["gpus"], kept, ARGS.out, ARGS.steps, summary))
            report(name, found)
        except Exception as error:  # noqa: BLE001 - whatever it is, what comes after is still wanted
            fail(results, name, error)
        save(results)
    # What recording costs.
    for name, _, _, settings in named:
        if name not in results["cases"] or time.monotonic() - BEGUN > ARGS.seconds:
            results["left_out"].append(f"{name} without recording")
            continue
        try:
            summary = flow(work / f"{name}.toml", work / name, settings, log, left(60))
            found = results["cases"][name]
            found["alone"] = {key: summary.get(key) for key in found["recorded"]}
            if found["recorded"]["mlups"]:
                found["time_when_recorded"] = round(found["alone"]["mlups"] / found["recorded"]["mlups"], 4)
                print(f"{name:14} {found['alone']['mlups']:.0f} MLUPS; recorded {found['time_when_recorded']:.3f} times as long", flush=True)
        except Exception as error:  # noqa: BLE001
            fail(results, f"{name} without recording", error)


def draw_again():
    """Draws what an earlier run has recorded."""
    results = json.loads((ARGS.out / "timeline.json").read_text()) if (ARGS.out / "timeline.json").is_file() else {}
    results = {"gpus": "", "cases": {}, "failures": {}, "left_out": [], **results}
    titles = {case[0]: case[1] for case in cases()}
    for path in sorted(ARGS.out.glob("*.csv.gz")) + sorted(ARGS.out.glob("*.csv")):
        name = path.name.split(".csv")[0]
        found = results["cases"].setdefault(name, {"title": titles.get(name, name)})
        found.update(analyse(name, found["title"], results["gpus"], path, ARGS.out, ARGS.steps, found.get("recorded") or {}))
        report(name, found)
    (ARGS.out / "timeline.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


def main():
    if ARGS.lbmc == "draw":
        return draw_again()
    ARGS.lbmc = Path(ARGS.lbmc).resolve()
    work = Path(os.environ.get("TMPDIR", "/tmp")) / f"timeline-{os.getpid()}"
    ARGS.out.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True)
    results = {"gpus": "", "cases": {}, "failures": {}, "left_out": []}
    with open(ARGS.out / "log.txt", "w") as log:
        measure(results, log, work)
    save(results)
    shutil.rmtree(work, ignore_errors=True)
    print(f"{time.monotonic() - BEGUN:.0f} s in all; {len(results['failures'])} failures; left out: {results['left_out']}")
    return 1 if results["failures"] else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("lbmc")
    arguments.add_argument("out", type=lambda path: Path(path).resolve())
    arguments.add_argument("case", nargs="*")
    arguments.add_argument("--seconds", type=float, default=90.0)
    arguments.add_argument("--steps", type=int, default=2)
    ARGS = arguments.parse_args()
    sys.exit(main())
