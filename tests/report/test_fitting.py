"""No legend and no label is wider than its drawing, and what fits stays as it is."""

import pandas as pd
import pytest

from ol2r.report import fitting
from ol2r.report.style import Drawing, legend, panels, styled

SENTENCE = "share of all the pairs of documents that some learner still leaves open after so many rounds of its clicks"


@pytest.mark.parametrize(("length", "columns"), [(5, 5), (30, 2), (200, 1)])
def test_a_legend_has_as_many_columns_as_its_figure_is_wide(length, columns):
    @styled
    def draw():
        fig, (ax,) = panels([""], pd.DataFrame())
        for c in range(6):
            ax.plot([0, 1], [c, c], label=f"{c}" * length)
        legend(fig, [ax])
        return fig

    fig = draw()
    (own,) = fig.legends
    assert own._ncols == columns and [text.get_text()[0] for text in own.get_texts()] == list("012345")
    assert columns == 1 or own.get_window_extent().width <= fig.bbox.width


@styled
def labelled(x: str, y: str):
    fig, axes = panels(["one", "two"], pd.DataFrame(), height=2.2)
    for ax in axes:
        ax.set_xlabel(x)
    axes[0].set_ylabel(y)
    return fig


def test_a_label_that_would_reach_beyond_the_figure_is_wrapped_between_words():
    fig = labelled("round", SENTENCE)
    fig._repr_svg_()
    fig.draw_without_rendering()  # places in pixels again, not in points
    label = fig.axes[0].yaxis.label
    first, *others = label.get_text().split("\n")
    assert others and " ".join([first, *others]) == SENTENCE
    box = label.get_window_extent()
    assert box.y0 >= 0 and box.y1 <= fig.bbox.height and box.x0 >= 0
    assert fig.axes[0].get_xlabel() == "round"


def test_formulae_and_labels_that_fit_stay_as_they_are():
    formula = f"${' + '.join(['x'] * 90)}$"
    fig = labelled(formula, "score of a list")
    fig._repr_svg_()
    assert (fig.axes[0].get_xlabel(), fig.axes[0].get_ylabel()) == (formula, "score of a list")


def test_a_label_of_a_part_stays_inside_it():
    fig = Drawing(figsize=(7, 4), layout="constrained")
    parts = fig.subfigures(2, 1)
    for part in parts:
        part.subplots().set_ylabel("offline NDCG@10 of some learner, MQ2007, 85 % of documents")
    fitting.wrap_labels(fig)
    fig.draw_without_rendering()
    for part in parts:
        box = part.axes[0].yaxis.label.get_window_extent()
        assert part.bbox.y0 <= box.y0 and box.y1 <= part.bbox.y1


def test_a_drawing_is_laid_out_once_to_be_saved_and_anew_when_it_has_changed():
    fig, laid_out = labelled("round", "score"), []
    layout = fig.get_layout_engine()
    with pytest.MonkeyPatch.context() as patch:
        own = type(layout).execute
        patch.setattr(type(layout), "execute", lambda self, figure: laid_out.append(own(self, figure)))
        first = fig._repr_svg_()
        assert len(laid_out) == 1 and fig.get_layout_engine() is layout
        left = fig.axes[0].get_position().x0
        fig.axes[0].set_ylabel("a score\nof two lines")
        assert fig._repr_svg_() != first and len(laid_out) == 2
        assert fig.axes[0].get_position().x0 > left
