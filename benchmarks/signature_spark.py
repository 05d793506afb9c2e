"""The signature stage beside datasketch and Spark's own MinHashLSH: the same bags, one core each, in one run.

    python benchmarks/signature_spark.py COLLECTION.kin [--bags 2000] [--values 80] [--rounds 3]

Darts sign weighted bags, as the stage does in each task. Datasketch and Spark sign sets of terms, which is less, and are given
their terms ready made: bytes, and vectors in a cached table. Times are the processor's: of this process, and of the JVM. The
first round, in which code is compiled, does not count.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasketch

from pagekin.similarity.darts import Darts
from signature_speed import Bags


def processor_seconds(process: int) -> float:
    """Return the processor's seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_spark() -> Any:
    """Start Spark with one core in this machine."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()


def sign_with_spark(session: Any, bags: Bags, values: int) -> Callable[[], object]:
    """Return a function that signs all bags with Spark's MinHashLSH."""
    from pyspark.ml.feature import MinHashLSH
    from pyspark.ml.linalg import Vectors

    size = int(bags.terms.max()) + 1
    rows = [(Vectors.sparse(size, sorted(map(int, words)), [1.0] * len(words)),) for words in bags.words]
    table = session.createDataFrame(rows, ["terms"]).repartition(1).cache()
    table.count()
    model = MinHashLSH(inputCol="terms", outputCol="signature", numHashTables=values, seed=1).fit(table)
    return lambda: model.transform(table).select("signature").write.format("noop").mode("overwrite").save()


def main() -> None:
    """Sign the bags in turns, and print the least time of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--bags", type=int, default=2_000)
    parser.add_argument("--values", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    bags, session = Bags(options.collection, options.bags), start_spark()
    java = int(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    darts = Darts(options.values, 1)

    def sign_with_datasketch() -> None:
        for words in bags.bytes:
            datasketch.MinHash(num_perm=options.values, seed=1).update_batch(words)

    jobs: dict[str, tuple[int, Callable[[], object]]] = {
        "darts": (os.getpid(), lambda: darts.sign_bags(bags.terms, bags.weights, bags.offsets, bags.hashes)),
        "datasketch": (os.getpid(), sign_with_datasketch),
        "Spark's MinHashLSH": (java, sign_with_spark(session, bags, options.values)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _turn in range(options.rounds + 1):
        for name, (process, job) in jobs.items():
            started, clock = processor_seconds(process), time.process_time()
            job()
            own = time.process_time() - clock
            seconds[name].append(own if process == os.getpid() else processor_seconds(process) - started)
    session.stop()
    print(
        f"{len(bags):,} bags of {len(bags.terms) / len(bags):.0f} terms on average, {options.values} values; one core"
    )
    least = {name: min(some[1:]) for name, some in seconds.items()}
    for name, some in least.items():
        print(f"{name:<20}{some / len(bags) * 1e6:>10.1f} µs a bag{some / least['darts']:>8.1f} x")


if __name__ == "__main__":
    main()
