"""How many items are new, before any work and after a kill."""

import json
import os
import subprocess
import sys
from pathlib import Path

from plan_world import World

from chunklab_core.plan.counts import Amount
from chunklab_core.plan.text import plan_text


def test_texts_are_counted_exactly_where_the_chunks_are_known_and_else_guessed_from_the_run_before(
    world: World,
) -> None:
    world.settings["embedding"]["passage_prompt"] = "text: "
    amounts = {step.label: step.amount for step in world.plan().steps if step.stage == "embed" and step.runs}
    assert amounts["halves"] == Amount(6, 6, "texts")

    world.settings["embedding"]["passage_prompt"] = ""
    (world.docs / "refunds.txt").write_text("Refunds take six days.")
    amounts = {step.label: step.amount for step in world.plan().steps if step.stage == "embed" and step.runs}
    assert amounts["halves"] == Amount(2, 6, "texts", about=True)

    world.settings["strategies"].append({"name": "recursive"})
    amounts = {step.label: step.amount for step in world.plan().steps if step.stage == "embed" and step.runs}
    assert amounts["recursive"] == Amount(None, None, "texts")


RUN = """
import json, sys
from chunklab_core import pipeline
docs, questions, settings, cache = sys.argv[1:]
pipeline.evaluate(docs, questions, json.loads(settings), cache=cache)
"""
DIES_AT_ITS_SECOND_BATCH = """
import os
from pathlib import Path
import numpy as np

class Letters:
    def __call__(self, texts):
        if len(texts) > 2:  # the questions are two
            seen = Path(__file__).with_name("seen")
            if seen.exists() and os.environ.get("DIES"):
                os._exit(9)
            seen.write_text("once")
        return np.array([[text.count(letter) for letter in "aeiou123"] for text in texts], dtype=np.float32)
"""
LINES = """
import re
from chunklab_core.records import Span

class Lines:
    def __call__(self, document):
        return [Span(*match.span()) for match in re.finditer(".+", document.text)]
"""


def test_after_a_kill_the_plan_and_the_run_count_what_is_reused(tmp_path: Path) -> None:
    world = World(tmp_path).write()
    world.settings["strategies"] = [{"name": f"{tmp_path / 'lines.py'}:Lines"}]
    (tmp_path / "lines.py").write_text(LINES)
    (tmp_path / "letters.py").write_text(DIES_AT_ITS_SECOND_BATCH)
    (world.docs / "long.txt").write_text("\n".join(f"line {at}" for at in range(100)))
    arguments = [str(world.docs), str(world.question_file), json.dumps(world.settings), str(world.store.root)]
    command = [sys.executable, "-c", RUN, *arguments]
    assert subprocess.run(command, env={**os.environ, "DIES": "1"}, check=False).returncode == 9

    embed = next(step for step in world.plan().steps if (step.stage, step.label) == ("embed", "lines.py:Lines"))
    assert embed.amount == Amount(39, 103, "texts")  # three documents of one line; 64 texts are saved together
    assert (embed.reasons[0].code, embed.reasons[0].arguments[0]) == ("unfinished", "killed")
    assert "39 of 103 texts new, 64 reused" in plan_text(world.plan())

    made = {(entry.stage, entry.label): entry for entry in world.run().provenance.run.made}
    assert ("chunk", "lines.py:Lines") not in made
    assert (made["embed", "lines.py:Lines"].n_new, made["embed", "lines.py:Lines"].n_taken_over) == (39, 64)
