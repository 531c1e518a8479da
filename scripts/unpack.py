"""Cut the rows of one setting out of a table of the archive."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from decoupling import cli
from decoupling.errors import InputError
from decoupling.files import atomic_path


@cli.command
def main(
    archive: Path,
    source: Annotated[dict, "as JSON: file, rows by values of columns, and problem or ''"],
    output: Path,
) -> None:
    if source["problem"]:
        raise InputError([source["problem"]])
    table = pq.read_table(archive / f"{source['file']}.parquet")
    for column, values in source["rows"].items():
        table = table.filter(pc.is_in(table[column], pa.array(values, table[column].type)))
    with atomic_path(output) as temporary:
        pq.write_table(table.replace_schema_metadata(), temporary)
