"""The inputs of one evaluation as a form: the flow's parameter, filled in by the command line or in the Prefect UI."""

from pydantic import BaseModel, ConfigDict, Field

from chunklab_core.cache.protocol import Ref


class EvaluationSettings(BaseModel):
    """The inputs of one evaluation."""

    model_config = ConfigDict(extra="forbid")

    docs: str = Field("examples/first_run/docs", description="Folder of documents, or one document.")
    questions: str = Field("examples/first_run/questions.yaml", description="Question file, see docs/questions.md.")
    config: str | None = Field(None, description="Settings file. Leave empty for the defaults.")
    overrides: list[str] = Field(
        default_factory=list, description="Settings that override the file, each as section.key=VALUE."
    )
    out: str | None = Field(None, description="Folder for the report. Leave empty for the settings' output.dir.")
    refresh: list[str] = Field(default_factory=list, description="Stages to run again even if the cache has results.")
    cache_dir: str | None = Field(None, description="Cache folder. Leave empty for the system's cache folder.")
    prepared: Ref | None = Field(None, description="For the command line only. Leave empty.")
