"""Prefect task for stage survey."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="survey {label}", **cached_by_content("survey"))
def survey(
    scores: list[Ref],
    verdict: Ref,
    gold: Ref,
    tags: Ref,
    cells: list[tuple[int, int, int | None, int | None]],
    ranking_metric: str,
    balanced_lambda: float,
    seed: int,
    label: str,
    store: str,
) -> Ref:
    """What stands around the verdict. See `chunklab_core.pipeline.survey_all`."""
    return pipeline.run_stage(
        "survey",
        open_store(store),
        scores=scores,
        verdict=verdict,
        gold=gold,
        tags=tags,
        cells=cells,
        ranking_metric=ranking_metric,
        balanced_lambda=balanced_lambda,
        seed=seed,
        label=label,
    )
