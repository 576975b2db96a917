import os

import pytest
from hypothesis import HealthCheck, settings
from invented import grid, invented_results, invented_runs

from ol2r.data import entry

# No test depends on how busy the machine is, and every run tries the same examples: what passes here passes elsewhere.
# `pytest --hypothesis-profile=explore` tries new ones.
settings.register_profile("repeatable", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False, max_examples=500)
settings.load_profile("repeatable")

__all__ = ["grid", "invented_results", "invented_runs"]  # fixtures


def pytest_addoption(parser):
    parser.addoption("--redraw", action="store_true", help="write the golden files of the tests that run anew")


@pytest.fixture
def golden_text(request):
    """Compares a text with a golden file, whose path is seen from the test's folder; see `pictures`."""
    import pictures

    anew = request.config.getoption("--redraw")
    return lambda text, path: pictures.compare(text, request.path.parent / path, anew)


@pytest.fixture
def picture(request, golden_text):
    """Compares a figure with the golden picture that bears the test's name; see `pictures`."""
    import pictures

    path = f"pictures/{request.node.name.removeprefix('test_')}.txt"
    return lambda fig: golden_text(pictures.told(fig), path)


def pytest_configure(config):
    config.addinivalue_line("markers", "real_data(*names): needs these data sets of the catalogue under OL2R_DATA")


def pytest_runtest_setup(item):
    marker = item.get_closest_marker("real_data")
    missing = [name for name in marker.args if not entry(name).at_hand()] if marker else []
    if missing:
        if os.environ.get("OL2R_DATA") or os.environ.get("OL2R_REQUIRE_DATA") == "1":
            pytest.fail(f"not under OL2R_DATA: {', '.join(missing)}")
        pytest.skip("OL2R_DATA is not set")


@pytest.fixture(scope="session", autouse=True)
def _own_cache_and_config(tmp_path_factory):
    """Tests neither read nor write the caches and settings of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OL2R_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("OL2R_CONFIG", str(tmp_path_factory.mktemp("config")))
        yield
