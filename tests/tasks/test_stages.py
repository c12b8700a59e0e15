"""The tasks as the Prefect UI shows them."""

import pytest

from chunklab_core.stages import all_stages


@pytest.mark.parametrize("stage", all_stages())
def test_every_stage_has_a_task_with_its_name_and_a_description(stage: str) -> None:
    from tasks.stages import task_of  # here: Prefect reads its settings at import, and tests/flows sets them

    task = task_of(stage)

    assert (task.name, task.task_run_name) == (stage, f"{stage} {{label}}")
    assert task.task_key.startswith(f"{stage}-")
    assert task.description
    assert "\n" not in task.description
    assert task is task_of(stage)
