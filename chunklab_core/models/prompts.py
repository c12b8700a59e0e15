"""The text that each model expects before a query and before a passage, by the model's exact name.

Source: the model cards on the hub.
"""

_E5 = ("query: ", "passage: ")
_BGE = ("Represent this sentence for searching relevant passages: ", "")
_BGE_ZH = ("为这个句子生成表示以用于检索相关文章：", "")
_E5_INSTRUCT = ("Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ", "")
_NOMIC = ("search_query: ", "search_document: ")
PROMPTS = {
    **{
        f"intfloat/e5-{size}{version}": _E5
        for size in ("small", "base", "large")
        for version in ("", "-v2", "-unsupervised")
    },
    **{f"intfloat/multilingual-e5-{size}": _E5 for size in ("small", "base", "large")},
    **{f"BAAI/bge-{size}-en{version}": _BGE for size in ("small", "base", "large") for version in ("", "-v1.5")},
    **{f"BAAI/bge-{size}-zh{version}": _BGE_ZH for size in ("small", "base", "large") for version in ("", "-v1.5")},
    "nomic-ai/nomic-embed-text-v1": _NOMIC,
    "nomic-ai/nomic-embed-text-v1.5": _NOMIC,
    "intfloat/multilingual-e5-large-instruct": _E5_INSTRUCT,
    "mixedbread-ai/mxbai-embed-large-v1": _BGE,
    **{f"Snowflake/snowflake-arctic-embed-{size}": _BGE for size in ("xs", "s", "m", "m-v1.5", "m-long", "l")},
    "WhereIsAI/UAE-Large-V1": _BGE,
}
