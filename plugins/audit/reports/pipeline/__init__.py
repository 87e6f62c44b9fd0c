"""The pipeline: from the segments of a journal to a table of its events, with Spark, on one machine or on many.

    segments of JSON lines  ->  Parquet by date (`store.py`)  ->  events of a period, each once (`events.py`)

* `java.py`, `session.py`: a Spark session, also where no Java is installed.
* `place.py`: which segments there are, and which of them are sealed, wherever the journal is.
* `lines.py`: from a line to an event; lines that are no events are kept apart.
* `inspection.py`: verification of the seals, on this machine.
"""
