"""What one evaluation is asked to do, as a form: the flow's parameter, filled in by the command line or in the UI."""

from pydantic import BaseModel, ConfigDict, Field

from chunklab_core.cache.protocol import Ref


class EvaluationSettings(BaseModel):
    """The inputs of one evaluation."""

    model_config = ConfigDict(extra="forbid")

    docs: str = Field("examples/first_run/docs", description="Folder of documents, or one document.")
    questions: str = Field("examples/first_run/questions.yaml", description="Questions file, see docs/questions.md.")
    config: str | None = Field(None, description="Settings file; the defaults where it is empty.")
    overrides: list[str] = Field(
        default_factory=list, description="Settings that win over the file: section.key=VALUE."
    )
    out: str | None = Field(None, description="Folder for the report; the settings' output.dir where it is empty.")
    refresh: list[str] = Field(default_factory=list, description="Stages to run again, whatever the cache holds.")
    cache_dir: str | None = Field(None, description="Folder of the cache; the system's cache folder where it is empty.")
    prepared: Ref | None = Field(
        None, description="Inputs that the command line has read already; leave it empty in the UI."
    )
