"""The contributor's page on claims, followed to the letter."""

import re
from pathlib import Path

import pytest

from ol2r.experiments.verdicts import judge
from ol2r.papers import nsgd, paper, texts

PAGE = Path(__file__).parents[2] / "book/contribute.md"
BLOCK = re.compile(r"^```\{code-block\} (\w+)\n:caption: src/ol2r/papers/nsgd/(claims\.\w+)\n\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize(("lead", "verdict"), [(5.0, "reproduced"), (-5.0, "not reproduced"), (1.0, "undecided")])
def test_a_claim_is_words_and_arithmetic(tmp_path, monkeypatch, invented_runs, invented_results, lead, verdict):
    section = PAGE.read_text().partition("\n## Add a claim\n")[2].partition("\n## Add a paper\n")[0]
    (_, words, told), (_, rules, rule) = BLOCK.findall(section)
    folder = Path(nsgd.__file__).parent
    (tmp_path / words).write_text(f"{(folder / words).read_text()}\n{told}")
    before, closing, nothing = (folder / rules).read_text().rpartition("\n)\n")
    assert closing and not nothing
    monkeypatch.setattr(texts, "files", lambda package: tmp_path)
    module: dict = {"__name__": "ol2r.papers.nsgd.claims"}
    exec(compile(f"{before}\n{rule}{closing}", rules, "exec"), module)
    *others, own = module["CLAIMS"]
    assert [each.rule for each in others] == [each.rule for each in paper("nsgd").claims]
    means = {("MQ2007", users, name): 60.0 + lead * (name == "DP-DBGD") for users in module["USERS"]
             for name in ("DBGD", "DP-DBGD")}  # fmt: skip
    frame = invented_runs(means, ("dataset", "users", "learner"), column="cndcg")
    found = judge(own, {"table-2": invented_results(frame)}, paper("nsgd").printed())
    assert (found.verdict, found.anchor) == (verdict, "nsgd-ns14")
    assert own.expected.startswith("DP-DBGD's cumulative NDCG@10 is more than 1 above that of DBGD")
