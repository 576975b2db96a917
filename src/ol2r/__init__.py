"""Online learning to rank: five papers, made to run."""

__version__ = "0.1.0"


def __getattr__(name: str):
    # imported when first asked for, so that `import ol2r` stays cheap
    if name == "chapter":
        from ol2r.experiments.chapter import chapter

        return chapter
    raise AttributeError(f"module 'ol2r' has no attribute {name!r}")
