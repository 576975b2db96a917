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


def scores_in_words(table: pd.DataFrame) -> str:
    """What the cascade model rules out, and which fit foretells held-out sessions best.

    Args:
        table: `click_fits.scores` under the usual choices.
    """
    held_out = table[table["part"] == "held out"].set_index(["users", "way"])
    cascade, rates = frames.line(held_out, ("CM", "PyClick")), frames.line(held_out, ("RCTR", "maximum likelihood"))
    best = held_out["log-likelihood"].argmax(), held_out["perplexity"].argmin()
    likeliest, sharpest = (held_out.index[int(place)] for place in best)
    less = held_out[held_out["log-likelihood"] < rates["log-likelihood"]].index
    return (
        f"The CM has a probability of 0 for {100 * cascade['sessions ruled out'] / cascade['sessions']:.0f} % of the "
        f"held-out sessions, those with two clicks or more. The highest held-out log-likelihood has {_fit(likeliest)}, "
        f"the lowest perplexity {_fit(sharpest)}. Less likely than under the rates of clicks by position alone are the "
        f"held-out sessions under {', '.join(map(_fit, less)) or 'none'}."
    )


def _fit(case: tuple[str, str]) -> str:
    return f"the {case[0]} ({case[1]})"


def rates_in_words(table: pd.DataFrame) -> str:
    """For which fits the errors fall as 1/√n, and for which they do not."""
    counted = table["way"].isin(["PyClick", "last click"]) & (table["users"] == "DCM")
    expected = (table["low"] <= -0.5) & (table["high"] >= -0.5)
    worst = table[counted & (table["quantity"] == "largest error of v")]["last"].max()
    others, theirs = ((expected & kept).sum() for kept in (~counted, counted))
    return (
        f"The interval of the slope holds −½ for {others} of {(~counted).sum()} errors of fits that do not take the "
        f"last click for the end, and for {theirs} of {counted.sum()} of those that do; with the most sessions, the "
        f"error of $v$ of the latter is still up to {worst:.2f}."
    )


def log_in_words(table: pd.DataFrame) -> str:
    """What is in the log and what is odd in it, in a sentence.

    Args:
        table: `click_fits.scores` under the usual choices.
    """
    train, held_out = (table[table["part"] == part].iloc[0] for part in ("train", "held out"))
    return (
        f"It has {train['queries']:.0f} queries with {train['sessions']:,.0f} sessions to fit to and "
        f"{held_out['sessions']:,.0f} held out; {train['clicks on items not shown']:.0f} and "
        f"{held_out['clicks on items not shown']:.0f} clicks fall on items that their session does not show, and "
        f"{held_out['sessions with new items']:,.0f} held-out sessions show an item that none of the others showed."
    )
