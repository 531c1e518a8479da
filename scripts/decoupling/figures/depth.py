"""Depth: risk against the number of layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from . import ARMS, text
from .sizes import Sizes

if TYPE_CHECKING:
    from .hints import Setting


class Depth(Sizes):
    """A panel per n: the depths of one setting."""

    subject = "settings of several layers"
    may_share_name = True
    scored = Sizes.scored_once
    properties: ClassVar = {
        "setting": text("The setting whose depths are drawn; the figure's own name where left out"),
        "arms": ARMS,
    }
    axis, symbol = "layers $L$", "L"

    @classmethod
    def can_draw(cls, setting: Setting) -> bool:
        return super().can_draw(setting) and len(setting.depths) > 1

    def points(self, settings: Mapping[str, Setting]) -> list[tuple[int, str, int]]:
        base = settings[self.setting_names[0]]
        return [(layers, base.name, layers) for layers in base.depths]


KIND = Depth
