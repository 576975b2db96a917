"""How far apart two colours are: for most people, and for those without red or green cones."""

from functools import cache

import numpy as np
from colorspacious import cspace_convert
from matplotlib.colors import to_rgb
from skimage.color import deltaE_ciede2000, rgb2lab

LEAST = {"normal": 15.0, "deuteranomaly": 10.0, "protanomaly": 10.0}
"""ΔE₀₀ that colours of one figure have at least, by vision."""


@cache
def seen(colour: str, vision: str) -> np.ndarray:
    """CIELAB of a colour as it is seen, Float[3]; the deficiencies are complete ones (Machado et al., 2009)."""
    rgb = np.array(to_rgb(colour))
    if vision != "normal":
        space = {"name": "sRGB1+CVD", "cvd_type": vision, "severity": 100}
        rgb = np.clip(cspace_convert(rgb, space, "sRGB1"), 0, 1)
    return rgb2lab(rgb[None, None])[0, 0]


def apart(a: str, b: str, vision: str) -> float:
    """ΔE₀₀ of two colours."""
    return float(deltaE_ciede2000(seen(a, vision), seen(b, vision)))


def contrast_with_white(colour: str) -> float:
    """The contrast ratio of WCAG."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05))


def hue(colour: str) -> float:
    """Hue in CIELAB, in degrees."""
    _, a, b = seen(colour, "normal")
    return float(np.degrees(np.arctan2(b, a)) % 360)
