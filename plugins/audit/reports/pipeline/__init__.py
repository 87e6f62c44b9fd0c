"""The pipeline: from the segments of a journal to a table of its events, with Spark, on one machine or on many.

    segments of JSON lines  ->  Parquet by date (`store.py`)  ->  events of a period, each once (`events.py`)

* `java.py`, `session.py`: a Spark session, also where no Java is installed.
* `place.py`: which segments there are, and which of them are sealed, wherever the journal lies.
* `lines.py`: from a line to an event; what is no event is kept apart.
* `inspection.py`: what the seals prove, checked on this machine.
"""
