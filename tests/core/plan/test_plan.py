"""A plan is what the run then does, and making it changes nothing."""

from pathlib import Path

from plan_world import World

from chunklab_core.plan.counts import Amount
from chunklab_core.plan.reasons import Reason
from chunklab_core.plan.sentences import sentence
from chunklab_core.plan.text import plan_text


def test_on_an_empty_cache_everything_runs_for_the_first_time(tmp_path: Path) -> None:
    plan = World(tmp_path).write().plan()

    assert {step.reasons for step in plan.steps} == {(Reason("first_run"),)}
    assert (plan.compared_with, plan.seconds, plan.has_history) == (None, None, False)
    assert "no estimate: no earlier run on this machine in the cache" in plan_text(plan)


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of a folder, without the empty files that SQLite keeps while it reads."""
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm"}
    return {str(path): content for path, content in found.items() if content}


def test_a_plan_changes_nothing_in_the_cache_not_even_for_a_stage_to_be_refreshed(world: World) -> None:
    world.plan()
    before = files_of(world.store.root)
    steps = world.plan(refresh=["embed"]).steps

    assert {(step.stage, step.reasons) for step in steps if step.runs} == {("embed", (Reason("refresh"),))}
    assert all(step.amount and step.amount.new == step.amount.of for step in steps if step.runs)
    assert files_of(world.store.root) == before


def test_a_plan_is_what_the_run_then_does(world: World) -> None:
    (world.docs / "refunds.txt").write_text("Refunds take six days.")
    steps = [step for step in world.plan().steps if step.runs]
    made = world.run().provenance.run.made

    assert [(entry.stage, entry.label, list(entry.reasons)) for entry in made] == [
        (step.stage, step.label, [sentence(reason) for reason in step.reasons]) for step in steps
    ]
    exact = {(step.stage, step.label): step.amount for step in steps if step.amount and not step.amount.about}
    assert exact[("parse", "documents")] == Amount(1, 3, "documents")
    counts = {(entry.stage, entry.label): (entry.new, entry.taken_over) for entry in made}
    assert {key: (amount.new, amount.of) for key, amount in exact.items()} == {
        key: (counts[key][0], sum(counts[key])) for key in exact
    }
    assert counts["chunk", "halves"] == (1, 2)
    assert counts["embed", "halves"] == (1, 5)  # "e six days."; the first half stays "Refunds tak"
    assert world.plan().steps
    assert not world.reasons()
