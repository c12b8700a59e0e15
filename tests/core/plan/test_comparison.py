"""Which earlier run a run is compared with."""

from plan_world import World

from chunklab_core import pipeline
from chunklab_core.cache import runs
from chunklab_core.plan.reasons import Reason


def test_a_run_is_compared_with_the_last_one_over_the_same_documents_and_questions(world: World) -> None:
    world.run()
    first = next(runs.records(world.store)).started
    other = World(world.folder / "other").write()
    pipeline.evaluate(other.docs, other.question_file, world.settings, cache=world.store.root)
    world.settings["eval"] = {"seed": 5}

    assert world.plan().compared_with == first
    assert world.reasons() == {
        "select all cells": (Reason("value", ("seed", 0, 5)),),
        "survey all cells": (Reason("value", ("seed", 0, 5)), Reason("follows", ("select", "all cells"))),
    }
