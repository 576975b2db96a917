"""Faults that this suite has found and that are not yet mended: they are counted apart, and the page names each.

Take a line out when its fault is mended; from then on the suite fails if it comes back.
"""

KNOWN: dict[str, str] = {
    "table-of-clicks-wider-than-its-header": (
        "A table of clicks whose lines have more values than its header is read with its columns moved."
    ),
    "table-of-clicks-loose-values": (
        "A table of clicks is read though a column stands twice in its header, a line lacks its end or a value "
        "is no plain number."
    ),
    "fitted-models-loose-values": (
        "Fitted models are read though a probability is a text or a truth value, or a query is in it twice."
    ),
    "fitted-models-without-a-line": (
        "A file of fitted models that nests too deeply, or has a number that no float holds, ends in a traceback."
    ),
    "cache-array-header": (
        "If the header of an array in a data set's cache is damaged, opening it can end in a traceback, where the "
        "cache should be built again."
    ),
    "cache-record": (
        "In the cache's record the label, the grades or the checksum of a data set can change without being noticed."
    ),
}
