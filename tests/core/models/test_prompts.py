import shutil
from pathlib import Path

import pytest

from chunklab_core.models.card import model_card
from chunklab_core.models.prompts import PROMPTS


@pytest.mark.parametrize(("name", "query", "passage"), [(name, *both) for name, both in PROMPTS.items()])
def test_a_model_in_a_folder_of_its_own_name_gets_the_prompts_of_its_card(
    name: str, query: str, passage: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(parents=True)
    shutil.copytree(model, name)
    card = model_card(name)

    assert (card.query_prompt, card.passage_prompt) == (query, passage)
