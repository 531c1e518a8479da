"""What the config says once defaults are filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from .recipes import ARMS, Recipe
from .studies import KINDS, study_names, varied_settings

Config = Mapping[str, Any]

SETTING_DEFAULTS = {
    "models": ["attention"],
    "layers": [1],
    "arms": ["plain", "finetune", "joint", "joint_heads"],
}
MIXTURE_KEYS = ("d", "weights", "means", "covs", "cov_base", "sigma_x", "noise_var")
NOT_ONE_PANEL = {"panels", "overview", *KINDS}  # keys of figures that are more than a panel


def settings(config: Config) -> dict[str, Any]:
    """The blocks of all settings: the config's, and those that studies make of them."""
    varied = [varied_settings(config, study) for study in study_names(config)]
    return {
        name: block for blocks in (config["settings"], *varied) for name, block in blocks.items()
    }


def setting(config: Config, name: str) -> dict[str, Any]:
    """A setting's block with its defaults."""
    return SETTING_DEFAULTS | dict(settings(config)[name])


def mixture_block(config: Config, name: str) -> dict[str, Any]:
    """The part of a setting's block that makes the task mixture."""
    block = settings(config)[name]
    return {key: block[key] for key in MIXTURE_KEYS if key in block}


def training_tasks(config: Config, protocol_name: str, name: str) -> list[dict[str, Any]]:
    """Everything a protocol trains for a setting, as `Task` fields."""
    block = setting(config, name)
    protocol = config["protocols"][protocol_name]
    tasks = []
    for model in block["models"]:
        for layers in block["layers"] if model == "attention" else [1]:
            general = protocol["one_layer" if layers == 1 else "deep"]
            for arm in block["arms"]:
                if model == "reduced" and ARMS[arm].heads:
                    continue  # Assumption 1 has no task heads
                own = general.get("arms", {}).get(arm, {})
                fields = {k: v for k, v in general.items() if k not in ("arms", "seeds")}
                tasks.append(
                    {
                        "model": model,
                        "layers": layers,
                        "arm": arm,
                        "recipe": asdict(Recipe(**(fields | own))),
                        "seeds": min(protocol["seeds"], general.get("seeds", protocol["seeds"])),
                    }
                )
    return tasks


def figure(config: Config, name: str) -> dict[str, Any]:
    """A figure's panels with their defaults, and how they are arranged."""
    block = _figure_block(config, name)
    if "overview" in block:
        return {
            "layout": "overview",
            "panels": [_panel(config, name, {"setting": block["overview"]}, 1)],
        }
    if "panels" in block:
        panels = [p for panel in block["panels"] for p in figure(config, panel)["panels"]]
        return {"layout": "page", "panels": panels}
    depths = setting(config, block.get("setting", name))["layers"]
    panels = [_panel(config, name, block, layers) for layers in depths]
    return {"layout": "page" if len(panels) > 1 else "panel", "panels": panels}


def curves(config: Config) -> list[dict[str, Any]]:
    """Every trained curve of every panel; a page repeats its panels, the overview one of them.
    What studies train is left out."""
    blocks = config.get("figures") or {}
    found = []
    for name in figure_names(config):
        if NOT_ONE_PANEL.isdisjoint(blocks.get(name, {})):
            for panel in figure(config, name)["panels"]:
                found += [c for c in _panel_curves(config, panel) if c not in found]
    return found


def protocol_note(config: Config, name: str) -> str:
    """The small print of a figure: which protocol made it, and what that is."""
    layers = [panel["layers"] for panel in figure(config, name)["panels"]]
    return describe_protocol(config, config["protocol"], layers)


def describe_protocol(config: Config, name: str, layers: Iterable[int]) -> str:
    """What a protocol is, for models of these depths."""
    protocol = config["protocols"][name]
    depths = {depth > 1 for depth in layers}
    parts = []
    for deep in sorted(depths):
        recipe = protocol["deep" if deep else "one_layer"]
        gradient = recipe["gradient"]
        kind = "exact gradient" if gradient == "exact" else f"batches of {gradient:,}"
        seeds = min(protocol["seeds"], recipe.get("seeds", protocol["seeds"]))
        depth = ("deeper: " if deep else "1 layer: ") if len(depths) > 1 else ""
        parts.append(f"{depth}best of {seeds} seeds, {kind}, {recipe['iterations']:,} iterations")
    return f"Protocol {name}: " + "; ".join(parts)


def report_section(config: Config, name: str) -> str:
    """The heading that a figure has in the report."""
    return _figure_block(config, name).get("section", "Own settings")


def report_label(config: Config, name: str) -> str:
    """A figure's line in the report's list."""
    block = _figure_block(config, name)
    kind = "overview" if "overview" in block else "all panels" if "panels" in block else ""
    title = block.get("title", kind)
    return f"{name}: {title}" if title else name


def figure_names(config: Config) -> list[str]:
    """Every figure that can be asked for."""
    return sorted({*(config.get("figures") or {}), *config["settings"]})


def page_settings(config: Config) -> dict[str, list[str]]:
    """The settings that each page of panels shows."""
    pages = {name for name, block in (config.get("figures") or {}).items() if "panels" in block}
    return {
        name: sorted({panel["setting"] for panel in figure(config, name)["panels"]})
        for name in sorted(pages)
    }


def _figure_block(config: Config, name: str) -> dict[str, Any]:
    return dict((config.get("figures") or {}).get(name, {}))


def _panel(config: Config, name: str, block: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """A panel of one depth. What only one layer has, deeper panels go without."""
    source = block.get("setting", name)
    filled = setting(config, source)
    model = "attention" if "attention" in filled["models"] else "reduced"
    arms = [
        arm
        for arm in block.get("arms", filled["arms"])
        if model == "attention" or not ARMS[arm].heads
    ]
    return {
        "name": name,
        "setting": source,
        "model": model,
        "title": _title(name, block, filled["layers"], layers),
        "layers": layers,
        "arms": arms,
        "dashed": block.get("dashed", "theorem") if layers == 1 else "none",
        "dashed_arms": block.get("dashed_arms", arms),
        "overlay": block.get("overlay", "none") if layers == 1 else "none",
        "bayes": block.get("bayes", False),
    }


def _title(name: str, block: Mapping[str, Any], depths: list[int], layers: int) -> str:
    """As the config has it, else the figure's name; with the depth where that would not say it."""
    title = block.get("title", name)
    if len(depths) > 1 or ("title" not in block and layers > 1):
        title += f", {layers} layer{'s' if layers > 1 else ''}"
    return title


def _panel_curves(config: Config, panel: Mapping[str, Any]) -> list[dict[str, Any]]:
    drawn = []
    if panel["model"] == "attention":
        drawn += [("attention", panel["layers"], arm) for arm in panel["arms"]]
    if "reduced" in (panel["model"], panel["dashed"]):
        shown = panel["arms"] if panel["model"] == "reduced" else panel["dashed_arms"]
        drawn += [("reduced", 1, a) for a in panel["arms"] if a in shown and not ARMS[a].heads]
    return [
        {
            "panel": panel["name"],
            "setting": panel["setting"],
            "model": model,
            "layers": layers,
            "arm": arm,
        }
        for model, layers, arm in drawn
    ]
