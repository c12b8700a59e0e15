from pathlib import Path

import pytest

from chunklab_core.errors import ConfigError
from chunklab_core.inputs.config import load_config
from chunklab_core.inputs.settings import EvaluationConfig, Strategy

RETRIEVERS = ("dense", "bm25", "hybrid")
CHOICES = {
    "retrieval.mode": RETRIEVERS,
    "retrieval.compare": RETRIEVERS,
    "eval.ranking_metric": ("balanced", "recall_at_k"),
}


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
    ("text", "message"),
    [
        ("retrieval:\n  topk: 5\n", r"line 2: unknown key 'retrieval\.topk'; did you mean 'retrieval\.top_k'\?"),
        ("retreival:\n  top_k: 5\n", r"line 1: unknown key 'retreival'.*'retrieval'"),
        ("seed: 3\n", r"line 1: unknown key 'seed'.*'eval\.seed'"),
        ("retrieval:\n  bm25:\n    k: 1\n", r"line 3: unknown key 'retrieval\.bm25\.k'.*'retrieval\.bm25\.k1'"),
        ("eval:\n  seed: 1\n  seed: 2\n", r"line 3: the key 'seed' is written twice, first on line 2"),
        ("eval: {<<: {seed: 1}}\n", r"merge keys"),
        ("retrieval:\n  mode: bm52\n", r"mode is the text 'bm52'; did you mean 'bm25'\? .*dense, bm25, hybrid"),
        ("retrieval:\n  compare: [dense, hybird]\n", r"line 2: retrieval\.compare.*did you mean 'hybrid'"),
        ("retrieval: {compare: [dense, dense]}\n", r"twice"),
        ("retrieval: {compare: dense}\n", r"Write a list of retrievers"),
        ("retrieval: {mode: hybrid, compare: [dense, bm25]}\n", r"leaves it out"),
        ("retrieval: {top_k: 0}\n", r"retrieval\.top_k is 0\. Write a whole number of at least 1"),
        ("retrieval: {top_k: [5, 5]}\n", r"twice"),
        ("retrieval: {top_k: []}\n", r"an empty list"),
        ("retrieval: {top_k: '5'}\n", r"retrieval\.top_k is the text '5'\. Write a whole number"),
        ("retrieval: {top_k: 05}\n", r"retrieval\.top_k is the text '05'"),
        ("retrieval: {top_k: 5.0}\n", r"retrieval\.top_k is 5\.0"),
        ("retrieval: {top_k: true}\n", r"retrieval\.top_k is true"),
        ("retrieval:\n  top_k: 200\n", r"candidates is 100, fewer than the 200 of retrieval\.top_k\. Set .* to 200"),
        ("retrieval: {rrf_k: 0}\n", r"rrf_k is 0"),
        ("retrieval: {bm25: {k1: -0.1}}\n", r"k1 is -0\.1"),
        ("retrieval: {bm25: {k1: .inf}}\n", r"k1 is inf"),
        ("retrieval: {bm25: {b: 1.1}}\n", r"b is 1\.1\. Write a number from 0 to 1"),
        ("retrieval: {rerank: some-model}\n", r"Reranking is not available yet"),
        ("retrieval: {fusion: convex}\n", r"Another fusion is not available yet"),
        ("eval: {fuzzy_threshold: 0}\n", r"above 0"),
        ("eval: {fuzzy_threshold: 1.01}\n", r"at most 1"),
        ("eval: {fuzzy_threshold: .nan}\n", r"fuzzy_threshold is nan"),
        ("eval: {balanced_lambda: -1}\n", r"balanced_lambda is -1"),
        ("eval: {seed: -1}\n", r"seed is -1"),
        ("eval: {bootstrap_resamples: 99}\n", r"bootstrap_resamples is 99\. .*at least 100"),
        ("eval: {ranking_metric: recal_at_k}\n", r"did you mean 'recall_at_k'"),
        ("eval: {seed: }\n", r"eval\.seed is empty"),
        ("eval: [seed]\n", r"eval is a list of 1 .*Write a mapping"),
        ("embedding: {model: [a, b]}\n", r"Several models in one run are not available yet"),
        ("embedding: {model: 12}\n", r"embedding\.model is 12\. Write text"),
        ("embedding: {precision: bf16}\n", r"Another precision is not available yet"),
        ("embedding: {query_prompt: {query: }}\n", r"in quotes"),
        ("parse: {pdf: pypdfium2}\n", r"parse\.pdf is the text 'pypdfium2'\. .*not available yet"),
        ("output: {formats: [json, html]}\n", r"A format other than json is not available yet"),
        ("access: {default: [all]}\n", r"access \(permissions\) is not available yet"),
        ("strategies: []\n", r"strategies is an empty list"),
        ("strategies: [fixed]\n", r"entry 1 is the text 'fixed'\. Write \{name: fixed"),
        ("strategies:\n  - {params: {}}\n", r"line 2: strategies, entry 1 has a name that is empty"),
        ("strategies:\n  - name: fixed\n    chunk_size: 3\n", r"line 3: .*unknown key 'chunk_size'.*under 'params'"),
        ("strategies: [{name: fixed, params: {overlap: [1]}}]\n", r"entry 1 has a parameter 'overlap' that is a list"),
        ("strategies: [{name: fixed, params: {overlap: }}]\n", r"entry 1 has a parameter 'overlap' that is empty"),
        ("strategies: [{name: fixed, params: {overlap: .nan}}]\n", r"entry 1 has a parameter 'overlap' that is nan"),
        ("strategies: [{name: fixed, label: 7}]\n", r"strategies, entry 1 has a label that is 7\. .*text"),
        ("strategies: [{name: fixed, label: x}, {name: recursive, label: x}]\n", r"1 and 2 have the same label 'x'"),
        ("strategies: [{name: fixed}, {name: fixed}]\n", r"1 and 2 have the same label 'fixed'"),
        ("- a\n", r"and not a mapping of sections"),
    ],
)  # fmt: skip
def test_an_unusable_setting_is_named_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(written(tmp_path, text), choices=CHOICES)

    assert str(caught.value).startswith(str(tmp_path / "config.yaml"))
    assert "\n" not in str(caught.value)


def test_an_override_is_yaml_and_wins_over_the_file_and_replaces_lists(tmp_path: Path) -> None:
    path = written(tmp_path, "retrieval: {top_k: [3, 5], rrf_k: 10}\n")

    config = load_config(path, ["retrieval.top_k=[7]", "eval.seed=4", "strategies=[{name: whole_document}]"])

    assert (config.retrieval.top_k, config.retrieval.rrf_k, config.eval.seed) == ((7,), 10, 4)
    assert [strategy.name for strategy in config.strategies] == ["whole_document"]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["retrieval.top_k=0"], r"^--set retrieval\.top_k: retrieval\.top_k is 0"),
        (["retrieval.topk=3"], r"^--set retrieval\.topk: unknown key.*'retrieval\.top_k'"),
        (["eval.seed=1", "eval.seed=2"], r"--set eval\.seed is given twice"),
        (["eval.seed"], r"--set 'eval\.seed' has no value"),
        (["eval.seed={a"], r"--set eval\.seed, line 1: this is not valid YAML"),
        (["eval.seed.x=1"], r"eval\.seed is a mapping"),
    ],
)
def test_an_unusable_override_is_named_as_typed(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(None, overrides)


def test_an_override_does_not_hide_an_error_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="retrieval is 5 in the file"):
        load_config(written(tmp_path, "retrieval: 5\n"), ["retrieval.top_k=3"])
