"""U14: word count. Every word is counted as it comes; the count so far is printed.

penstock run examples/word_count.py
penstock run examples/word_count.py --input README.md
"""

from __future__ import annotations

import argparse
import re

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSource, StreamFormat

LINES = ["to be or not to be", "that is the question", "whether it is nobler to be or to seem"]


def word_count(lines: DataStream[str]) -> DataStream[tuple[str, int]]:
    """(word, count so far) for every word."""
    return (
        lines.flat_map(lambda line: re.findall(r"\w+", line.lower()), Types.STRING())
        .map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Count words.")
    parser.add_argument("--input", help="a text file, or a folder of them")
    args = parser.parse_args()
    env = StreamExecutionEnvironment.get_execution_environment()
    if args.input:
        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), args.input).build()
        lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "lines")
    else:
        lines = env.from_collection(LINES, Types.STRING())
    word_count(lines).print()
    env.execute("word count")


if __name__ == "__main__":
    main()
