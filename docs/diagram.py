"""Draw the rules, what they make and what they need into architecture.md, from the real DAG."""

import html
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/architecture.md"
BLOCK = re.compile(r"```mermaid\n.*?```", re.S)


def diagram(dot: str) -> str:
    """Mermaid of what `snakemake --filegraph` prints. Its order changes from run to run."""
    names, nodes = {}, []
    for number, node in re.findall(r"^(\d+) \[(.*?)</table>>\]", dot, re.S | re.M):
        names[number] = re.search(r'point-size="18">(\w+)<', node).group(1)
        outputs = re.findall(r'monospace">(.*?)</font>', node.partition("output &rarr;")[2])
        # A wildcard is written with the names that it may have.
        files = sorted(re.sub(r"\{(\w+),.*?\}", r"{\1}", html.unescape(f)) for f in outputs)
        label = "<br>".join([f"<b>{names[number]}</b>", *files])
        nodes.append(f'    {names[number]}["{label}"]')
    arrows = re.findall(r"^\s*(\d+) -> (\d+)", dot, re.M)
    edges = sorted(f"    {names[source]} --> {names[target]}" for source, target in arrows)
    return "\n".join(["```mermaid", "flowchart TB", *sorted(nodes), *edges, "```"])


if __name__ == "__main__":
    command = [sys.executable, "-m", "snakemake", "--filegraph"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    PAGE.write_text(BLOCK.sub(lambda _: diagram(done.stdout), PAGE.read_text()))
