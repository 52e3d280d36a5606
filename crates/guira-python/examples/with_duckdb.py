"""DuckDB: a filter that is built from queries, in parts, and a function over whole columns that looks keys up.

    python with_duckdb.py [--keys 10000000]
"""

import functools
import operator
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa
from duckdb.sqltypes import BIGINT, BOOLEAN

import guira_filters
from figures import PARTS, RATE, arguments, check, figure, heading, timed


def build(connection, plan, query):
    """A filter of the first column of a query, whose batches come as DuckDB computes them."""
    part = plan.build()
    for batch in connection.cursor().sql(query).to_arrow_reader(1 << 16):
        part.update(batch.column(0))
    return part


def main():
    keys = arguments(__doc__).keys
    heading("DuckDB")
    connection = duckdb.connect()
    connection.execute(f"create table users as select range as id from range({keys})")
    connection.execute(f"create table visits as select (hash(range) % {10 * keys})::bigint as id from range({keys})")

    plan = guira_filters.plan(keys, RATE)
    with timed(f"built of {PARTS} queries, in two threads, and merged"), ThreadPoolExecutor(2) as threads:
        queries = [f"select id from users where id % {PARTS} = {part}" for part in range(PARTS)]
        known = functools.reduce(operator.or_, threads.map(functools.partial(build, connection, plan), queries))
    check(known, plan, keys)

    connection.create_function("is_known", lambda ids: pa.array(known.contains_many(ids)), [BIGINT], BOOLEAN, type="arrow")
    with timed("rows of the join, looked up with `is_known(id)` first"):
        [(thinned, joined)] = connection.sql(
            "select count(*), count(users.id) from (select id from visits where is_known(id)) left join users using (id)"
        ).fetchall()
    with timed("the same join alone, in memory"):
        [(expected,)] = connection.sql("select count(*) from visits join users using (id)").fetchall()
    assert joined == expected
    figure("rows before the filter, behind it, and joined", f"{keys} / {thinned} / {joined}")


if __name__ == "__main__":
    main()
