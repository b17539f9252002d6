"""The page of the benchmark of the default, as Markdown."""

import re

from contestants import (
    BASELINE,
    DEFAULT,
    FROM_PYTHON,
    FROM_RUST,
    RIVER_FOREST,
    TABLE,
)
from speed_ratios import geometric_mean, speed_ratios


def render(results, figure):
    """The whole page; `figure` is the path of the picture from there."""
    sections = [
        head(results),
        table_section(results, figure),
        baseline_section(results),
        one_by_one_section(results),
        latency_section(results),
        scaling_section(results),
        busy_section(results),
        method_section(results),
    ]
    return "\n".join(section for section in sections if section)


def head(results):
    machine, memory = results.machine, results.machine["memory_bytes"] / 2**30
    versions = ", ".join(f"{name} {version}" for name, version in results.versions.items())
    return (
        "# What users feel\n\n"
        f"{machine['processor']}, {machine['cores']} cores, {memory:.0f} GiB, {machine['system']}.\n"
        f"{versions}.\n"
    )


def streams_of(results, section):
    """The streams of a section that have results, in the order in which they were exported."""
    measured = results.names(section, "stream")
    return [name for name in results.streams if name in measured]


def contestants_of(results, section):
    measured = results.names(section, "contestant")
    return [name for name in TABLE if name in measured]


def table_section(results, figure):
    streams, names = streams_of(results, "table"), contestants_of(results, "table")
    if not streams:
        return ""
    cells = {
        (name, stream): results.cell("table", name, stream) for name in names for stream in streams
    }
    parts = [
        f"## The default beside others\n\n![Accuracy against speed on each stream]({figure})\n",
        "Accuracy in percent, with the number of samples where it is not the whole stream:\n",
        grid(names, streams, cells, accuracies(results, streams, cells)),
        "Samples per second of wall-clock time:\n",
        grid(names, streams, cells, lambda cell, _: speed_text(cell.speed)),
        "Processor time of all cores, in seconds per 1,000 samples:\n",
        grid(names, streams, cells, lambda cell, _: significant(1000 * cell.cpu_per_sample)),
        "Peak memory of the process in MB:\n",
        grid(names, streams, cells, lambda cell, _: megabytes(cell)),
    ]
    failures = [
        f"- {name} on {stream} failed: {cell.failure}"
        for (name, stream), cell in cells.items()
        if cell and cell.failure
    ]
    if failures:
        parts.append("\n".join(failures) + "\n")
    return "\n".join(parts)


def accuracies(results, streams, cells):
    """How an accuracy is written: the best one over a whole stream is bold."""

    def whole(cell, stream):
        return cell.samples >= results.streams[stream]["samples"]

    best = {
        stream: max(
            (
                round(100 * cell.accuracy, 1)
                for (_, of), cell in cells.items()
                if of == stream and cell and not cell.failure and whole(cell, stream)
            ),
            default=None,
        )
        for stream in streams
    }

    def text(cell, stream):
        accuracy = round(100 * cell.accuracy, 1)
        if not whole(cell, stream):
            return f"{accuracy} (first {cell.samples:,})"
        return f"**{accuracy}**" if accuracy == best[stream] else f"{accuracy}"

    return text


def grid(names, streams, cells, text):
    """A table with a row for each contestant and a column for each stream."""

    def content(name, stream):
        cell = cells[name, stream]
        if cell is None:
            return ""
        return "failed" if cell.failure else text(cell, stream)

    rows = [[bold(name), *(content(name, stream) for stream in streams)] for name in names]
    return markdown_table(["", *streams], rows)


def baseline_section(results):
    """The default against another build of the program."""
    streams = streams_of(results, "table")
    ratios = speed_ratios(results, "table", DEFAULT, BASELINE, streams)
    if not ratios:
        return ""
    rows = []
    for stream, ratio in ratios.items():
        new, old = (results.cell("table", name, stream) for name in (DEFAULT, BASELINE))
        speeds = [speed_text(old.speed), speed_text(new.speed), f"{ratio:.2f}"]
        rows.append([stream, *speeds, *(f"{100 * cell.accuracy:.2f}" for cell in (old, new))])
    rows.append(
        ["**geometric mean**", "", "", f"**{geometric_mean(ratios.values()):.2f}**", "", ""]
    )
    header = ["", "baseline, samples/s", "now, samples/s", "ratio", "baseline, %", "now, %"]
    return "## Against the baseline\n\n" + markdown_table(header, rows)


def one_by_one_section(results):
    streams = streams_of(results, "one-by-one")
    names = results.names("one-by-one", "contestant")
    names = [name for name in (FROM_RUST, FROM_PYTHON, RIVER_FOREST) if name in names]
    if not streams:
        return ""
    rows = []
    for name in names:
        row = [bold(name)]
        for stream in streams:
            cell = results.cell("one-by-one", name, stream)
            row.append(one_by_one_text(results, cell, stream))
        rows.append(row)
    return (
        "## One by one\n\n"
        "`predict_one` and then `learn_one` for each sample. Accuracy in percent @ samples per second,\n"
        "and how many times as fast as River's forest:\n\n" + markdown_table(["", *streams], rows)
    )


def one_by_one_text(results, cell, stream):
    if cell is None:
        return ""
    if cell.failure:
        return "failed"
    text = f"{100 * cell.accuracy:.1f} @ {speed_text(cell.speed)}"
    if cell.samples < results.streams[stream]["samples"]:
        text += f" (first {cell.samples:,})"
    river = results.done("one-by-one", RIVER_FOREST, stream)
    if river and cell != river:
        text += f", {significant(cell.speed / river.speed)} ×"
    return text


# The calls that are timed, and what they are called.
CALLS = {
    "predict": "`predict_one`",
    "learn": "`learn_one`",
    "predict_by_predictor": "`predict_one` of a predictor",
}
PERCENTILES = ("p50", "p99", "p99.9", "max")


def latency_section(results):
    rows = []
    for stream in streams_of(results, "one-by-one"):
        cell = results.done("one-by-one", FROM_RUST, stream)
        if cell:
            for key, call in CALLS.items():
                if times := cell.latency.get(key):
                    texts = [significant(1000 * times[name]) for name in PERCENTILES]
                    rows.append([stream, call, *texts])
    if not rows:
        return ""
    header = ["", "call", "median", "99 %", "99.9 %", "longest"]
    return (
        "## Latency\n\nMilliseconds of a call from Rust, in the fastest round. A predictor answers from the\n"
        "model's weights of one moment, while the model may go on learning:\n\n"
        + markdown_table(header, rows, left=2)
    )


def scaling_section(results):
    measured = results.names("scaling", "stream")
    names = [name for name in (DEFAULT, BASELINE) if name in results.names("scaling", "contestant")]
    if not measured:
        return ""
    rows = []
    for stream in sorted(measured, key=size_order):
        row = [stream]
        for name in names:
            cell = results.done("scaling", name, stream)
            row += [speed_text(cell.speed), megabytes(cell)] if cell else ["failed", ""]
        rows.append(row)
    columns = [f"{name}, {unit}" for name in names for unit in ("samples/s", "MB")]
    return (
        "## Scaling\n\n"
        "The program on streams of the generator `random-rbf`. One size varies at a time; the others are\n"
        "2000 enhancement nodes, 20 inputs and 5 classes:\n\n"
        + markdown_table(["", *columns], rows)
    )


def size_order(name):
    """Sorts '250 nodes' by what it varies, then by the number."""
    value, size = name.split()
    return ["nodes", "inputs", "classes"].index(size), int(value)


def busy_section(results):
    names = [name for name in (DEFAULT, BASELINE) if name in results.names("busy", "contestant")]
    streams = streams_of(results, "busy")
    if not names or not streams:
        return ""
    rows = []
    for name in names:
        ratios = {}
        for stream in streams:
            quiet, busy = (results.done(part, name, stream) for part in ("table", "busy"))
            if quiet and busy:
                ratios[stream] = (busy.speed, busy.speed / quiet.speed)
        if ratios:
            texts = [
                f"{speed_text(ratios[stream][0])} ({ratios[stream][1]:.2f})"
                if stream in ratios
                else ""
                for stream in streams
            ]
            mean = geometric_mean(ratio for _, ratio in ratios.values())
            rows.append([bold(name), *texts, f"{mean:.2f}"])
    if not rows:
        return ""
    return (
        "## With one core busy\n\n"
        "Samples per second while another program spins on one of the cores, and the ratio to the speed\n"
        "of the first table:\n\n" + markdown_table(["", *streams, "geometric mean of ratios"], rows)
    )


def method_section(results):
    settings, rounds = results.settings, results.rounds("table")
    rounds = "for one round" if rounds == 1 else f"for {rounds} rounds"
    warm_up, budget = settings["warm_up"], settings["budget"]
    sources = "\n".join(
        f"- {name}: {stream['samples']:,} samples, {stream['inputs']} inputs, {stream['classes']} "
        f"classes (`{stream['source']}`)"
        for name, stream in results.streams.items()
    )
    return f"""## How it was measured

Everyone predicts and then learns the same samples in the same order, each in a process of its own. They
took turns, {rounds}; long measurements were not repeated. A speed is that of the best
round, processor time the least, memory the largest, and an accuracy that of the first round.

- **broadstream** is `broadstream run` with no option chosen, on all cores: from the start of the program to
  its end, with reading a CSV file. irithyll is timed the same way.
- **CapyMOA** runs MOA's own loop in Java over an ARFF file, after {warm_up:g} seconds in which the virtual
  machine compiles. Its memory is what the virtual machine takes, which is more than it needs.
- **River** is a loop over dictionaries that are made before. It gets the first
  {settings["river_limit"]:,} samples.
- **LightGBM** is refitted with its defaults on everything seen every {settings["refit_every"]:,} samples, and
  predicts until the next refit. Before the first one, the most frequent label is predicted.
- **irithyll** has 100 boosting steps, in the configuration with which its own benchmark page reports the
  best accuracies.
- **No change** repeats the previous label.

A contestant is cut after {budget:g} seconds, and the table says after how many samples. CapyMOA and irithyll
know all classes in advance. Memory is that of a whole process, with Python or Java; less than 9 MB cannot be
measured this way.

{sources}
"""


def markdown_table(header, rows, left=1):
    """A table whose first columns are aligned to the left and the others to the right."""
    rule = "|".join(["---"] * left + ["---:"] * (len(header) - left))
    lines = [f"| {' | '.join(header)} |", f"|{rule}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return re.sub(r" +\|", " |", "\n".join(lines)) + "\n"


def bold(name):
    """The rows that the page is about stand out."""
    return f"**{name}**" if name.startswith(DEFAULT) else name


def megabytes(cell):
    return f"{cell.peak_bytes / 1e6:,.0f}"


def speed_text(speed):
    """A speed with three significant digits."""
    return f"{float(f'{speed:.3g}'):,.0f}" if speed >= 100 else f"{speed:.3g}"


def significant(value):
    """A number with three significant digits, without an exponent."""
    rounded = float(f"{value:.3g}")
    if rounded >= 100:
        return f"{rounded:,.0f}"
    return f"{rounded:.10f}".rstrip("0").rstrip(".")
