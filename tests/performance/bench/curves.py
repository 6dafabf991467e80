"""A plot of memory against time as SVG, one panel a network."""

import html

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 420, 260, 56, 34, 16, 40
OURS, THEIRS = "#4c8bf5", "#f59e0b"


def svg(rows):
    """The text of a plot of `memory.measure`'s rows: MiB of the process to the right, milliseconds upwards."""
    panels = {}
    for row in rows:
        if "milliseconds" in row:
            panels.setdefault(row["network"], []).append(row)
    parts = [_panel(name, found, i) for i, (name, found) in enumerate(panels.items())]
    columns = min(2, max(1, len(parts)))
    width, height = columns * WIDTH, (len(parts) + columns - 1) // columns * HEIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>\n"])


def _panel(name, rows, number):
    most = max(row["bytes"] for row in rows) * 1.08
    longest = max(row["milliseconds"] for row in rows) * 1.15

    def point(row):
        x = LEFT + row["bytes"] / most * (WIDTH - LEFT - RIGHT)
        return x, HEIGHT - BOTTOM - row["milliseconds"] / longest * (HEIGHT - TOP - BOTTOM)

    text = [f'<g transform="translate({number % 2 * WIDTH} {number // 2 * HEIGHT})">',
            f'<text x="{LEFT}" y="20" font-size="13">{html.escape(name)}</text>',
            f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#667"/>']  # fmt: skip
    for part in range(5):
        x = LEFT + part / 4 * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - part / 4 * (HEIGHT - TOP - BOTTOM)
        text.append(f'<text x="{x:.0f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{most * part / 4 / 2**20:.0f}</text>')
        text.append(f'<text x="{LEFT - 5}" y="{y + 4:.0f}" text-anchor="end">{longest * part / 4:.0f}</text>')
    text.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">MiB of memory; ms a step upwards</text>')
    for ours, colour in ((True, OURS), (False, THEIRS)):
        chosen = [row for row in rows if (row["arena"] is not None) == ours]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(point, chosen))
        text.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for row in chosen:
            x, y = point(row)
            text.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
            text.append(f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="middle">{html.escape(row["system"])}</text>')
    return "\n".join([*text, "</g>"])
