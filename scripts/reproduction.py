"""Write docs/reproduction.md: the template, with numbers from the data."""

import argparse
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import jinja2
import pandas as pd
from decoupling.files import atomic_path
from decoupling.problem.mixture import TaskMixture
from decoupling.results.beyond import beyond
from decoupling.results.kept import Kept, moved
from decoupling.results.real_facts import real_facts
from decoupling.results.reproduction import facts
from decoupling.results.softmax_facts import softmax_facts, transformer_facts
from decoupling.results.statement_facts import statement_facts
from decoupling.tables import (
    BOUNDS,
    IDENTITY,
    PROMPT_SHARE,
    REAL,
    RISKS,
    SAMPLED,
    THEORY,
    read_all,
    read_published,
    read_table,
)

PROTOCOLS = ("laptop", "exact", "paper")
CONTROLS = ("shared", "heads")  # settings that the paper has not
DEEP_MOVES, SOFTMAX_MOVES = 0.02, 0.01  # changes by twice the iterations that are named
SIGNED_ZERO = re.compile(r"-(?=0(?:\.0*)?(?![\d.]))")
PRINTED = 1e-6  # what is left out of numbers printed with 8 digits, and more


def read_kept(folder: Path) -> Kept:
    kept = Kept(
        **{name: read_table(folder / f"{name}.parquet", RISKS) for name in PROTOCOLS},
        bounds=read_table(folder / "laptop_bounds.parquet", BOUNDS),
        costs={name: pd.read_csv(folder / f"{name}_costs.csv") for name in ("laptop", "paper")},
        speed=json.loads((folder / "speed.json").read_text()),
    )
    one_layer = kept.paper[kept.paper.layers == 1]
    for name in sorted(set(one_layer.setting) - set(kept.exact.setting)):
        raise SystemExit(
            f"{folder}/exact.parquet lacks {name}, which paper.parquet has and the page compares: "
            f"snakemake --config protocol=exact -- data/exact/risks/{name}.parquet, then "
            f"python scripts/reference.py exact {name}"
        )
    return kept


def rows_of(path: Path) -> list[dict]:
    """Of a table that is kept; none where it is not there yet."""
    return pd.read_csv(path).to_dict("records") if path.exists() else []


def more_training(path: Path, risks: pd.DataFrame) -> list[dict]:
    """What more training changes, which must be a change of the risks that are kept."""
    rows = rows_of(path)
    kept = risks.set_index(["setting", "n", "layers", "arm"]).normalized
    for row in rows:
        point = row["setting"], row["n"], row["layers"], row["arm"]
        if not math.isclose(row["risk"], kept[point], rel_tol=PRINTED):
            raise SystemExit(
                f"{path}: {point} is compared with {row['risk']}, and {kept[point]:.8g} is kept; "
                "run benchmarks/more_training.py again, as its help says"
            )
    return rows


def text_of(path: Path) -> str:
    """The same of a text."""
    return path.read_text() if path.exists() else ""


def signed_percent(value: float, digits: int = 2) -> str:
    """A minus sign, not a hyphen; no sign on what rounds to zero."""
    text = f"{100 * value:+.{digits}f}%"
    return text[1:] if not text.strip("+-0.%") else text.replace("-", "−")


def formatted(template: str, *values: object) -> str:
    """No sign on what rounds to zero, whose sign only rounding decides."""
    return SIGNED_ZERO.sub("", template % values)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--template", required=True, type=Path)
    parser.add_argument("--figures", required=True, type=json.loads, help="settings by figure")
    parser.add_argument("--kept", required=True, type=Path, help="data/reference")
    tables = (
        "--theory",
        "--rates",
        "--shared",
        "--softmax",
        "--sampled",
        "--identity",
        "--published",
    )
    for name in ("--specs", *tables):
        parser.add_argument(name, required=True, type=Path, nargs="+")
    for name in ("--figure-2b", "--output"):
        parser.add_argument(name, required=True, type=Path)
    args = parser.parse_args()
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    kept = read_kept(args.kept)
    theory, published = read_all(args.theory, THEORY), read_published(args.published)
    specs = {mix.name: mix for mix in mixtures}
    found = facts(
        replace(kept, laptop=kept.laptop[~kept.laptop.setting.isin(CONTROLS)]),
        theory,
        read_all(args.rates, THEORY),
        specs,
        published,
        args.figures,
    )
    found |= statement_facts(kept, theory, specs, published, pd.read_csv(args.figure_2b))
    found |= beyond(
        *(kept.laptop[kept.laptop.setting == name] for name in CONTROLS),
        read_all(args.shared, THEORY),
        read_all(args.sampled, SAMPLED),
        read_all(args.identity, IDENTITY),
    )
    risks, bounds, shares = (
        read_table(args.kept / f"softmax{name}.parquet", schema)
        for name, schema in (("", RISKS), ("_bounds", BOUNDS), ("_prompt_share", PROMPT_SHARE))
    )
    found |= softmax_facts(risks, bounds, shares, read_all(args.softmax, THEORY))
    softmax_doubling = more_training(args.kept / "softmax_doubling.csv", risks)
    risks, bounds = (
        read_table(args.kept / f"transformer{name}.parquet", schema)
        for name, schema in (("", RISKS), ("_bounds", BOUNDS))
    )
    twice = more_training(args.kept / "transformer_doubling.csv", risks)
    found |= transformer_facts(risks, bounds, read_all(args.softmax, THEORY), twice)
    found |= real_facts(read_table(args.kept / "real.parquet", REAL))
    rounding = rows_of(args.kept / "rounding.csv")
    doubling = more_training(args.kept / "deep_doubling.csv", kept.laptop)
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"pct": signed_percent, "format": formatted}
    page = environment.from_string(args.template.read_text()).render(
        found,
        recipe=(args.kept / "recipe.md").read_text(),
        recipe_joint=(args.kept / "recipe_joint.md").read_text(),
        batch_noise=rows_of(args.kept / "batch_noise.csv"),
        rounding=rounding,
        rounded_finetune=next(abs(row["best"]) for row in rounding if row["arm"] == "finetune"),
        doubling=doubling,
        deep_moves=DEEP_MOVES,
        deep_moved=moved(doubling, DEEP_MOVES),
        softmax_doubling=softmax_doubling,
        softmax_moves=SOFTMAX_MOVES,
        softmax_moved=moved(softmax_doubling, SOFTMAX_MOVES),
        regret=more_training(args.kept / "deep_regret.csv", kept.laptop),
        recipe_deep=text_of(args.kept / "recipe_deep.md"),
        recipe_softmax=text_of(args.kept / "recipe_softmax.md"),
        recipe_softmax_heads=text_of(args.kept / "recipe_softmax_heads.md"),
        recipe_softmax_shared=text_of(args.kept / "recipe_softmax_shared.md"),
        recipe_softmax_finetune=text_of(args.kept / "recipe_softmax_finetune.md"),
        random_mixtures=pd.read_csv(args.kept / "random_mixtures.csv"),
    )
    with atomic_path(args.output) as temporary:
        temporary.write_text(page)
