"""The JSON Schema of report.json, made from its records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from chunklab_core.records.marks import Mark
from chunklab_core.records.report import SCHEMA_VERSION, Report
from chunklab_core.report.json import WrittenField, written_fields

_NAME = {"type": "string", "minLength": 1}


def report_schema(shares: Mapping[str, bool]) -> dict[str, Any]:
    """The schema as written to report.schema.json.

    Args:
        shares: every metric in the order of report.json, with whether it is a share in [0, 1].
    """

    class Generator(_Generator):
        metrics = {name: {"minimum": 0, "maximum": 1} if share else {"minimum": 0} for name, share in shares.items()}

    schema = TypeAdapter(Report).json_schema(schema_generator=Generator, mode="serialization")
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:chunklab:report:{SCHEMA_VERSION}",
        "title": f"report.json of chunklab, version {SCHEMA_VERSION}",
        "description": "docs/report.md explains each field.",
        **schema,
    }


class _Generator(GenerateJsonSchema):
    """Pydantic's schema of the records, with what their marks add."""

    metrics: Mapping[str, Mapping[str, Any]] = {}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """A record: only the keys it has, the metrics inline, a reason for each null."""
        kind: Any = schema["cls"]
        properties = super().dataclass_schema(schema)["properties"]
        fields = written_fields(kind)
        nullable = [field.name for field in fields if field.undefined]
        written: dict[str, Any] = {}
        for field in fields:
            if field.mark is Mark.INLINE:
                written |= {name: {"type": "number", **bounds} for name, bounds in self.metrics.items()}
            elif field.name == "undefined":
                written[field.name] = _closed(dict.fromkeys(nullable, _NAME), required=())
            else:
                written[field.name] = _of_field(field, properties[field.name])
        left_out = {field.name for field in fields if field.mark is Mark.LEFT_OUT}
        rules = [_rule(name, written[name]) for name in nullable]
        return {
            **_closed(written, [name for name in written if name not in left_out]),
            **({"allOf": rules} if rules else {}),
        }

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:  # noqa: ARG002
        """As made: in the order of report.json."""
        return value

    def normalize_name(self, name: str) -> str:
        """The name of a record, without what it is generic over."""
        return super().normalize_name(name.partition("[")[0])

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Never: a title would repeat the key."""
        return False


def _of_field(field: WrittenField, schema: JsonSchemaValue) -> JsonSchemaValue:
    """The values of a field where it is written: one that is left out where it is None or empty is neither."""
    written = {key: value for key, value in schema.items() if key != "default"}
    if field.mark is Mark.LEFT_OUT and "anyOf" in written:
        (written,) = (each for each in written["anyOf"] if each != {"type": "null"})
    return {**written, "minItems": 1} if field.mark is Mark.LEFT_OUT and written.get("items") else written


def _closed(properties: Mapping[str, Any], required: Collection[str]) -> JsonSchemaValue:
    closed = {"type": "object", "additionalProperties": False, "properties": dict(properties)}
    return {**closed, "required": list(required)} if required else closed


def _rule(name: str, schema: JsonSchemaValue) -> JsonSchemaValue:
    """Where a field is null, or holds a null, `undefined` has the reason."""
    null: dict[str, Any] = {"properties": {name: {"type": "null"}}}
    if schema.get("type") == "object":
        null = {"not": {"properties": {name: {"additionalProperties": {"not": {"type": "null"}}}}}}
    return {"if": null, "then": {"properties": {"undefined": {"required": [name]}}}}
