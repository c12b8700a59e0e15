import json
import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from chunklab_core.errors import ConfigError
from chunklab_core.inputs.settings import EvaluationConfig, Strategy, config_from_mapping, load_config, to_mapping


def written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_no_file_and_an_empty_file_give_the_defaults_of_the_design(tmp_path: Path) -> None:
    config = load_config()

    assert config == load_config(written(tmp_path, "# nothing yet\n")) == EvaluationConfig()
    assert (config.retrieval.retrievers, config.retrieval.top_k, config.retrieval.candidates) == (("dense",), (5,), 100)
    assert (config.eval.fuzzy_threshold, config.eval.balanced_lambda, config.eval.min_floor_tokens) == (0.9, 0.05, 200)
    assert {strategy.label: dict(strategy.params) for strategy in config.strategies} == {
        "fixed": {"chunk_size": 512, "overlap": 64},
        "recursive": {"chunk_size": 512, "overlap": 64},
        "semantic": {"breakpoint_percentile": 95, "min_tokens": 200, "max_tokens": 1000},
        "semantic_no_floor": {"breakpoint_percentile": 95, "max_tokens": 1000},
        "structure": {"max_tokens": 800, "min_tokens": 0},
    }


def test_every_setting_of_a_file_is_read(tmp_path: Path) -> None:
    config = load_config(
        written(
            tmp_path,
            """
parse: {pdf: pypdf}
embedding: {model: [some/model], query_prompt: "query: ", passage_prompt: ""}
retrieval: {compare: [bm25, dense], top_k: [3, 10, 1], candidates: 50, rrf_k: 10, bm25: {k1: 2, b: 0}}
eval:
  {fuzzy_threshold: 1, ranking_metric: mrr, balanced_lambda: 1e-3, min_floor_tokens: 0, seed: 7,
   bootstrap_resamples: 100}
output: {dir: out, formats: [json]}
strategies:
  - {name: fixed, params: {chunk_size: 256, overlap: 0}, label: small}
""",
        )
    )

    assert (config.embedding.model, config.embedding.query_prompt, config.embedding.passage_prompt) == (
        "some/model", "query: ", "",
    )  # fmt: skip
    assert config.retrieval.retrievers == ("bm25", "dense")
    assert (config.retrieval.top_k, config.retrieval.bm25.k1, config.retrieval.bm25.b) == ((3, 10, 1), 2.0, 0.0)
    assert (config.eval.balanced_lambda, config.eval.ranking_metric, config.eval.seed) == (0.001, "mrr", 7)
    assert config.output.dir == "out"
    assert config.strategies == (Strategy("fixed", (("chunk_size", 256), ("overlap", 0)), "small"),)


def test_a_single_top_k_needs_no_list_and_an_empty_section_is_its_defaults(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, "retrieval:\n  top_k: 8\neval:\n"))

    assert config.retrieval.top_k == (8,)
    assert config.eval == EvaluationConfig().eval


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("retrieval:\n  topk: 5\n", r"config\.yaml, line 2: unknown key 'retrieval\.topk'.*'retrieval\.top_k'"),
        ("retreival:\n  top_k: 5\n", r"line 1: unknown key 'retreival'.*'retrieval'"),
        ("seed: 3\n", r"line 1: unknown key 'seed'.*'eval\.seed'"),
        ("retrieval:\n  bm25:\n    k: 1\n", r"line 3: unknown key 'retrieval\.bm25\.k'.*'retrieval\.bm25\.k1'"),
        ("eval:\n  seed: 1\n  seed: 2\n", r"line 3: the key 'seed' is written twice; it stands on line 2"),
        ("eval: {<<: {seed: 1}}\n", r"merge keys"),
        ("retrieval:\n  mode: bm52\n", r"line 2: retrieval\.mode is the text 'bm52'; .*dense, bm25, hybrid.*'bm25'"),
        ("retrieval:\n  compare: [dense, hybird]\n", r"line 2: retrieval\.compare.*nearest is 'hybrid'"),
        ("retrieval: {compare: [dense, dense]}\n", r"twice"),
        ("retrieval: {compare: dense}\n", r"must be a list of retrievers"),
        ("retrieval: {mode: hybrid, compare: [dense, bm25]}\n", r"leaves it out"),
        ("retrieval: {top_k: 0}\n", r"retrieval\.top_k is 0; it must be a whole number of at least 1"),
        ("retrieval: {top_k: [5, 5]}\n", r"twice"),
        ("retrieval: {top_k: []}\n", r"an empty list"),
        ("retrieval: {top_k: '5'}\n", r"retrieval\.top_k is the text '5'; it must be a whole number"),
        ("retrieval: {top_k: 05}\n", r"retrieval\.top_k is the text '05'"),
        ("retrieval: {top_k: 5.0}\n", r"retrieval\.top_k is 5\.0"),
        ("retrieval: {top_k: true}\n", r"retrieval\.top_k is true"),
        ("retrieval:\n  top_k: 200\n", r"candidates is 100 and retrieval\.top_k asks for 200; .*Set .* to 200"),
        ("retrieval: {rrf_k: 0}\n", r"rrf_k is 0"),
        ("retrieval: {bm25: {k1: -0.1}}\n", r"k1 is -0\.1"),
        ("retrieval: {bm25: {k1: .inf}}\n", r"k1 is inf"),
        ("retrieval: {bm25: {b: 1.1}}\n", r"b is 1\.1; it must be a number from 0 to 1"),
        ("retrieval: {rerank: some-model}\n", r"reranking is not available yet"),
        ("retrieval: {fusion: convex}\n", r"another fusion is not available yet"),
        ("eval: {fuzzy_threshold: 0}\n", r"above 0"),
        ("eval: {fuzzy_threshold: 1.01}\n", r"at most 1"),
        ("eval: {fuzzy_threshold: .nan}\n", r"fuzzy_threshold is nan"),
        ("eval: {balanced_lambda: -1}\n", r"balanced_lambda is -1"),
        ("eval: {seed: -1}\n", r"seed is -1"),
        ("eval: {bootstrap_resamples: 99}\n", r"bootstrap_resamples is 99; .*at least 100"),
        ("eval: {ranking_metric: recal_at_k}\n", r"nearest is 'recall_at_k'"),
        ("eval: {seed: }\n", r"eval\.seed is empty"),
        ("eval: [seed]\n", r"eval is a list of 1 .*must be a mapping"),
        ("embedding: {model: [a, b]}\n", r"several models in one run are not available yet"),
        ("embedding: {model: 12}\n", r"embedding\.model is 12; it must be text"),
        ("embedding: {precision: bf16}\n", r"another precision is not available yet"),
        ("embedding: {query_prompt: {query: }}\n", r"in quotes"),
        ("parse: {pdf: pypdfium2}\n", r"parse\.pdf is the text 'pypdfium2'; .*not available yet"),
        ("output: {formats: [json, html]}\n", r"another format than json is not available yet"),
        ("access: {default: [all]}\n", r"access \(permissions\) is not available yet"),
        ("strategies: []\n", r"strategies is an empty list"),
        ("strategies: [fixed]\n", r"entry 1 is the text 'fixed'; write \{name: fixed"),
        ("strategies:\n  - {params: {}}\n", r"line 2: the name of strategies, entry 1 is empty"),
        ("strategies:\n  - name: fixed\n    chunk_size: 3\n", r"line 3: .*unknown key 'chunk_size'.*under 'params'"),
        ("strategies: [{name: fixed, params: {overlap: [1]}}]\n", r"'overlap' of strategies, entry 1 is a list"),
        ("strategies: [{name: fixed, params: {overlap: }}]\n", r"'overlap' of strategies, entry 1 is empty"),
        ("strategies: [{name: fixed, params: {overlap: .nan}}]\n", r"'overlap' of strategies, entry 1 is nan"),
        ("strategies: [{name: fixed, label: 7}]\n", r"label of strategies, entry 1 is 7; .*text"),
        ("strategies: [{name: fixed, label: x}, {name: recursive, label: x}]\n", r"1 and 2 are both called 'x'"),
        ("strategies: [{name: fixed}, {name: fixed}]\n", r"1 and 2 are both called 'fixed'"),
        ("- a\n", r"settings are a mapping of sections"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_work_is_refused_by_its_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        load_config(written(tmp_path, text))

    assert str(caught.value).startswith(str(tmp_path / "config.yaml"))
    assert "\n" not in str(caught.value)


def test_an_override_is_yaml_wins_over_the_file_and_replaces_lists(tmp_path: Path) -> None:
    path = written(tmp_path, "retrieval: {top_k: [3, 5], rrf_k: 10}\n")

    config = load_config(path, ["retrieval.top_k=[7]", "eval.seed=4", "strategies=[{name: whole_document}]"])

    assert (config.retrieval.top_k, config.retrieval.rrf_k, config.eval.seed) == ((7,), 10, 4)
    assert [strategy.name for strategy in config.strategies] == ["whole_document"]


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["retrieval.top_k=0"], r"^--set retrieval\.top_k: retrieval\.top_k is 0"),
        (["retrieval.topk=3"], r"^--set retrieval\.topk: unknown key.*'retrieval\.top_k'"),
        (["eval.seed=1", "eval.seed=2"], r"--set eval\.seed is given twice"),
        (["eval.seed"], r"--set 'eval\.seed' has no value"),
        (["eval.seed={a"], r"--set eval\.seed, line 1: this is not valid YAML"),
        (["eval.seed.x=1"], r"eval\.seed is a mapping"),
    ],
)
def test_an_override_that_cannot_work_is_refused_as_it_was_typed(overrides: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config(None, overrides)


def test_an_override_does_not_hide_a_file_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="retrieval is 5 in the file"):
        load_config(written(tmp_path, "retrieval: 5\n"), ["retrieval.top_k=3"])


def test_one_strategy_twice_is_told_apart_by_the_parameters_that_differ() -> None:
    config = config_from_mapping(
        {
            "strategies": [
                {"name": "fixed", "params": {"chunk_size": 256, "overlap": 0}},
                {"name": "fixed", "params": {"chunk_size": 512, "overlap": 0}},
                {"name": "fixed"},
                {"name": "fixed", "params": {"chunk_size": 64}, "label": "tiny"},
                {"name": "recursive", "params": {"chunk_size": 64}},
            ]
        }
    )

    assert [strategy.label for strategy in config.strategies] == [
        "fixed (chunk_size=256, overlap=0)", "fixed (chunk_size=512, overlap=0)", "fixed", "tiny", "recursive",
    ]  # fmt: skip


def test_equal_numbers_of_different_type_are_different_parameters() -> None:
    config = config_from_mapping(
        {"strategies": [{"name": "x", "params": {"a": 1, "b": 2}}, {"name": "x", "params": {"a": True, "b": 2}}]}
    )

    assert [strategy.label for strategy in config.strategies] == ["x (a=1)", "x (a=true)"]


def test_a_plug_in_is_found_beside_its_config_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    written(home, "strategies: [{name: cuts/by_clause.py:ByClause}, {name: package.module:Class}]\n")
    monkeypatch.chdir(elsewhere)

    config = load_config(Path(os.path.relpath(home / "config.yaml", elsewhere)))
    clause, packaged = config.strategies

    file, _, attribute = clause.target.rpartition(":")
    assert (Path(file).resolve(), attribute) == ((home / "cuts" / "by_clause.py").resolve(), "ByClause")
    assert Path(file).is_absolute()
    assert (clause.name, clause.label) == ("cuts/by_clause.py:ByClause", "cuts/by_clause.py:ByClause")
    assert packaged.target == packaged.name
    override = load_config(home / "config.yaml", ["strategies=[{name: a.py:A}]"])
    assert override.strategies[0].target == f"{elsewhere / 'a.py'}:A"


def test_what_a_report_shows_has_no_secrets_no_absolute_paths_and_only_json_types(tmp_path: Path) -> None:
    config = config_from_mapping(
        {
            "embedding": {"model": str(tmp_path / "models" / "mine")},
            "output": {"dir": str(tmp_path / "out")},
            "strategies": [
                {
                    "name": f"{tmp_path / 'mine.py'}:Mine",
                    "params": {"api_key": "sk-1", "auth_token": "t", "max_tokens": 9, "model": str(tmp_path / "m")},
                }
            ],
        }
    )

    shown = to_mapping(config)
    text = json.dumps(shown, allow_nan=False)

    assert str(tmp_path) not in text
    assert "sk-1" not in text
    assert shown["embedding"]["model"] == "mine"
    assert shown["strategies"] == [
        {
            "name": "mine.py:Mine",
            "label": "mine.py:Mine",
            "params": {"api_key": "(hidden)", "auth_token": "(hidden)", "max_tokens": 9, "model": "m"},
        }
    ]
    assert shown["retrieval"]["bm25"] == {"k1": 1.2, "b": 0.75}


def test_what_a_report_shows_gives_the_same_settings_when_it_is_read_back() -> None:
    config = config_from_mapping({"retrieval": {"compare": ["bm25", "hybrid"], "top_k": [2, 9]}, "eval": {"seed": 3}})
    shown = to_mapping(config)

    shown["retrieval"].pop("mode")  # beside `compare` it says nothing

    assert config_from_mapping(shown) == config


def test_settings_are_frozen_and_can_be_keys() -> None:
    config = load_config()

    assert len({config, load_config()}) == 1
    with pytest.raises(FrozenInstanceError):
        config.retrieval.top_k = (1,)  # type: ignore[misc]
