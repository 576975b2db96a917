import numpy as np
from matplotlib.figure import Figure

from ol2r.report import orders


def test_an_arrow_leads_from_the_better_document_and_an_uncertain_order_has_none():
    """B is certainly above A; C is uncertain against both."""
    certain = np.zeros((3, 3), dtype=bool)
    certain[1, 0] = True
    ax = Figure().subplots()
    orders.order_graph(ax, certain, ["A", "B", "C"])
    place = {text.get_text(): text.xy for text in ax.texts if text.arrow_patch is None}
    edges = [text for text in ax.texts if text.arrow_patch is not None]
    assert sorted(place) == ["A", "B", "C"] and len(edges) == 3
    (arrow,) = (edge for edge in edges if edge.arrowprops["arrowstyle"] == "-|>")
    np.testing.assert_allclose(arrow.xyann, place["B"])
    np.testing.assert_allclose(arrow.xy, place["A"])
