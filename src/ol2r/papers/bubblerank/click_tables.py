"""Tables of fitted click models: likelihood and perplexity, what choices change, agreement and recovery.

Frames are those of `click_fits`; this module computes nothing that is not there.
"""

from functools import partial

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.report.tables import Column, columns, myst, signed

CHOICES = {
    "usual": "as above",
    "unshown drop": "sessions with a click on an item not shown are dropped",
    "unseen drop": "held-out sessions with an item that was never shown before are dropped",
    "floor 0.0": "no floor",
}


def _nats(value: float) -> str:
    return "−∞" if value == -np.inf else signed(value)


def _perplexity(value: float) -> str:
    return "∞" if value == np.inf else f"{value:.3f}"


def scores(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Log-likelihood of a session and perplexity on the sessions fitted to and on those held out."""
    wide = table.set_index(["users", "way", "part"])
    rows = []
    for users, way in table[["users", "way"]].drop_duplicates().itertuples(index=False):
        train, held_out = (frames.line(wide, (users, way, part)) for part in ("train", "held out"))
        ruled_out = [f"{100 * part['sessions ruled out'] / part['sessions']:.1f} %" for part in (train, held_out)]
        likelihood = [_nats(part["log-likelihood"]) for part in (train, held_out)]
        rows.append([users, way, *likelihood, *ruled_out, *(_perplexity(it["perplexity"]) for it in (train, held_out))])
    header = ["model", "fitted by", "log-likelihood, fitted to", "held out"]
    header += ["ruled out, fitted to", "held out", "perplexity, fitted to", "held out"]
    return myst(header, rows, name=name, caption=caption)


def choices(table: pd.DataFrame, ways: tuple[str, ...] = ("PyClick",), **told: str) -> str:
    """Held-out log-likelihood and perplexity under each choice in turn: of `click_fits.choices`, some ways to fit."""
    given: dict[str, Column] = {
        "choice": lambda line: CHOICES[line.choice],
        "model": "{users}",
        "fitted by": "{way}",
        "held-out sessions": "{sessions:,.0f}",
        "log-likelihood": lambda line: _nats(line.likelihood),
        "perplexity": lambda line: _perplexity(line.perplexity),
    }
    kept = table[table["way"].isin(ways)].rename(columns={"log-likelihood": "likelihood"})
    return columns(kept, given, **told)


agreement = partial(
    columns,
    given={
        "model": "{users}",
        "fitted by": "{way}",
        "positions": "{positions}",
        "correlation": "{correlation:signed 2}",
        "mean difference": "{difference:.3f}",
        "largest": "{largest:.3f}",
        "rises": "{rises}",
        "published rises": "{published_rises}",
    },
)
"""Our parameters by position against the published ones: of `click_fits.agreement`."""

rates = partial(
    columns,
    given={
        "model": "{users}",
        "fitted by": "{way}",
        "quantity": "{quantity}",
        "fewest sessions": "{first:.4f}",
        "most sessions": "{last:.4f}",
        "slope [95 %]": "{mean:signed 2} [{low:signed 2}, {high:signed 2}]",
    },
)
"""How errors of recovered parameters fall with sessions: of `click_fits.rates`."""
