"""Draw a figure that the paper does not have."""

import argparse
from pathlib import Path

from decoupling.assumption1 import draw_assumption1
from decoupling.noise import draw_noise
from decoupling.rates import draw_rates
from decoupling.spec import TaskMixture
from decoupling.studies import KINDS
from decoupling.style import save
from decoupling.tables import BAYES, RISKS, THEORY, read_all

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", required=True, choices=KINDS)
    parser.add_argument("--note", required=True, help="small print")
    for name in ("--specs", "--risks", "--theory", "--bayes"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--pdf", required=True, type=Path)
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args()
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    theory = read_all(args.theory, THEORY)
    if args.kind == "rates":
        figure = draw_rates(*mixtures, theory, args.note)
    elif args.kind == "assumption1":
        figure = draw_assumption1(mixtures, theory, args.note)
    else:
        risks, bayes = read_all(args.risks, RISKS), read_all(args.bayes, BAYES)
        figure = draw_noise(mixtures, risks, theory, bayes, args.note)
    save(figure, args.pdf, args.png)
