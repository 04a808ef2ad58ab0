"""What Oracle refuses of vectors: their type, their indexes, embedding, chunks, text search."""

from __future__ import annotations

from tests.local.refusals_rows import ACCEPTED, Refused

_IVF = "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE"
_HNSW = "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH"

_TEXT_INDEX = (
    "CREATE INDEX t_b ON t (b) INDEXTYPE IS CTXSYS.CONTEXT"
    " PARAMETERS ('STOPLIST CTXSYS.EMPTY_STOPLIST SYNC (ON COMMIT)')"
)

REFUSED = [
    # the type and its functions
    Refused("CREATE TABLE x (v VECTOR(3, FLOAT32, DENSE, 1))", 51800),
    Refused("CREATE TABLE x (v VECTOR(0, FLOAT32))", 51801),
    Refused("CREATE TABLE x (v VECTOR(65536, FLOAT32))", 51801),
    Refused("CREATE TABLE x (v VECTOR(3, FLOAT16))", 51802),
    Refused("CREATE TABLE x (v VECTOR(10, BINARY))", 51813, gives=3001, differs="BINARY vectors are not known"),
    Refused("CREATE TABLE x (v VECTOR(8, BINARY, SPARSE))", 51820, gives=3001, differs="BINARY vectors are not known"),
    Refused("INSERT INTO tv (id, v) VALUES (9, '[1,2]')", 51803),
    Refused("INSERT INTO tv (id, v) VALUES (9, '[1,NaN,3]')", 51805),
    Refused("""INSERT INTO tv (id, v) VALUES (9, '[1,"a",3]')""", 51805),
    Refused(
        "INSERT INTO x (v) VALUES ('[1,2,300]')", 51806, setup=["CREATE TABLE x (v VECTOR(3, INT8))"],
    ),
    Refused(
        "INSERT INTO x (v) VALUES ('[1,0,0]')", 51833, setup=["CREATE TABLE x (v VECTOR(3, FLOAT32, SPARSE))"],
        gives=3001, differs="SPARSE vectors are not known: the table is refused",
    ),
    Refused("SELECT VECTOR_DISTANCE(TO_VECTOR('[1,2]'), TO_VECTOR('[1,2,3]'), COSINE) FROM dual", 51808),
    Refused("SELECT VECTOR_DISTANCE(v, v, FOO) FROM tv", 51964),
    Refused("SELECT VECTOR_DISTANCE(v, v, CUSTOM) FROM tv", 51971),
    Refused("SELECT JACCARD_DISTANCE(v, v) FROM tv", 51837),
    Refused("SELECT FROM_VECTOR(v RETURNING NUMBER) FROM tv", 51809),
    Refused(
        "SELECT SUM(v) FROM x", 51808,
        setup=["CREATE TABLE x (v VECTOR)", "INSERT INTO x VALUES ('[1,2]')", "INSERT INTO x VALUES ('[1,2,3]')"],
    ),
    Refused("SELECT * FROM tv ORDER BY v", 22848),
    Refused("SELECT v FROM tv GROUP BY v", 22848),
    Refused("SELECT DISTINCT v FROM tv", 22848),
    Refused("SELECT COUNT(DISTINCT v) FROM tv", 22848),
    Refused("SELECT * FROM tv WHERE v = TO_VECTOR('[1,2,3]')", 22848),
    Refused("SELECT * FROM tv x JOIN tv y ON x.v = y.v", 22848),
    Refused("ALTER TABLE tv MODIFY v VECTOR(4)", 51859),
    Refused("CREATE INDEX i ON tv (v)", 2327),
    Refused("CREATE TABLE x (v VECTOR(3)) TABLESPACE system", 43853),
    Refused("UPDATE tv SET v = '[1,2,3,4]'", 51803),
    Refused("SELECT id FROM tv ORDER BY v <=> '[1,2]' FETCH FIRST 1 ROWS ONLY", 51808),
    Refused("INSERT INTO tv (id, v) VALUES (1, '[]')", 51805, unsure=True),
    Refused("INSERT INTO tv (id, v) VALUES (1, '[1,NULL,3]')", 51805, unsure=True),
    Refused("CREATE TABLE x (v VECTOR(3) PRIMARY KEY)", 2329, unsure=True),
    Refused("CREATE TABLE x (v VECTOR(-1, FLOAT32))", 51801),
    Refused("INSERT INTO tv (id, v) VALUES (9, '1,2,3')", 51804, unsure=True),
    Refused(
        "INSERT INTO x (v) VALUES ('[3,[2,1],[1,1]]')", 51822, setup=["CREATE TABLE x (v VECTOR(3, FLOAT32, SPARSE))"],
        gives=3001, differs="SPARSE vectors are not known: the table is refused",
    ),
    Refused(
        "INSERT INTO x (v) VALUES ('[3,[9],[1]]')", 51836, setup=["CREATE TABLE x (v VECTOR(3, FLOAT32, SPARSE))"],
        gives=3001, differs="SPARSE vectors are not known: the table is refused",
    ),
    Refused(
        "SELECT VECTOR_DISTANCE(x.v, tv.v, COSINE) FROM x, tv", 51814, setup=["CREATE TABLE x (v VECTOR(8, BINARY))", "INSERT INTO x VALUES ('[1]')"],
        gives=3001, differs="BINARY vectors are not known",
    ),
    Refused("SELECT v / v FROM tv", 932, unsure=True),
    Refused("CREATE TABLE x (v VECTOR(3) DEFAULT '[1,2,3]')", 3001, unsure=True),
    Refused("CREATE TABLE x (v VECTOR(3) CHECK (v IS NOT NULL))", 3001, unsure=True),
    Refused("CREATE GLOBAL TEMPORARY TABLE x (v VECTOR(3))", 3001, unsure=True),
    Refused("SELECT id FROM tv WHERE v IN (TO_VECTOR('[1,2,3]'))", 22848),
    Refused("SELECT id FROM tv WHERE v < TO_VECTOR('[1,2,3]')", 22848),
    Refused("INSERT INTO tv (id, v) VALUES (9, :v)", 51811, unsure=True, gives=3001, differs="vectors have up to 16,000 dimensions", binds={"v": "[" + "1," * 65535 + "1]"}),
    # vector indexes
    Refused("CREATE VECTOR INDEX i ON tv (g) ORGANIZATION NEIGHBOR PARTITIONS", 51900),
    Refused(f"{_IVF} WITH TARGET ACCURACY 101", 51937),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS PARAMETERS (TYPE HNSW)", 51917),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH PARAMETERS (TYPE HNSW, NEIGHBORS 0)", 51938),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE HAMMING", 51909),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH", 51962,
        gives=ACCEPTED, differs="there is no vector memory pool whose size could be 0: HNSW needs no setting",
    ),
    Refused(_IVF, 955, setup=["CREATE INDEX i ON t (a)"]),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) INCLUDE (c) ORGANIZATION NEIGHBOR PARTITIONS", 51979,
        setup=["ALTER TABLE tv ADD c CLOB"],
    ),
    Refused("CREATE VECTOR INDEX i ON tv (v) INCLUDE (UPPER(g)) ORGANIZATION NEIGHBOR PARTITIONS", 51980),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) INCLUDE ({}) ORGANIZATION NEIGHBOR PARTITIONS".format(
            ", ".join(f"c{n}" for n in range(32))
        ),
        51977, setup=["ALTER TABLE tv ADD ({})".format(", ".join(f"c{n} NUMBER" for n in range(32)))],
    ),
    Refused(
        "ALTER TABLE tv MODIFY g VARCHAR2(99)", 51989,
        setup=["CREATE VECTOR INDEX i ON tv (v) INCLUDE (g) ORGANIZATION NEIGHBOR PARTITIONS"],
    ),
    Refused("CREATE VECTOR INDEX i ON tv (v)", 2000, unsure=True),
    Refused("CREATE VECTOR INDEX i ON tv (v) USING hnsw", 2000, unsure=True),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION CLUSTER DISTANCE METRIC COSINE", 2000, unsure=True),
    Refused(
        "CREATE VECTOR INDEX i ON x (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE", 51910, setup=["CREATE TABLE x (v VECTOR(8, BINARY))"],
        gives=3001, differs="BINARY vectors are not known",
    ),
    Refused(
        "CREATE VECTOR INDEX i ON x (v) ORGANIZATION NEIGHBOR PARTITIONS", 51902, unsure=True,
        setup=["CREATE TABLE x (v VECTOR)", "INSERT INTO x VALUES ('[1,2]')", "INSERT INTO x VALUES ('[1,2,3]')"],
    ),
    Refused("CREATE VECTOR INDEX i2 ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS", 1408, unsure=True, setup=[_IVF]),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) INCLUDE (g) ORGANIZATION INMEMORY NEIGHBOR GRAPH", 51978,
        gives=ACCEPTED, differs="26ai takes it too",
    ),
    Refused(
        "CREATE VECTOR INDEX i ON x (v) INCLUDE (g) ORGANIZATION NEIGHBOR PARTITIONS", 51982,
        setup=["CREATE TABLE x (v VECTOR(3), g NUMBER) PARTITION BY RANGE (g) (PARTITION p VALUES LESS THAN (5))"],
        gives=3001, differs="partitions are not known",
    ),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) INCLUDE (w) ORGANIZATION NEIGHBOR PARTITIONS", 51981,
        setup=["ALTER TABLE tv ADD w NUMBER GENERATED ALWAYS AS (id + 1) VIRTUAL"],
    ),
    Refused(_HNSW + " LOCAL", 51877, gives=3001, differs="26ai takes it on partitioned tables, which are not known"),
    Refused("ALTER INDEX i REBUILD", 2000, unsure=True, setup=[_IVF], gives=ACCEPTED, differs="26ai takes it"),
    Refused(
        "ALTER TABLE x DROP PARTITION p", 51881,
        setup=["CREATE TABLE x (v VECTOR(3), g NUMBER) PARTITION BY RANGE (g) (PARTITION p VALUES LESS THAN (5))"],
        gives=3001, differs="partitions are not known",
    ),
    Refused(
        "INSERT INTO x VALUES ('[1,2]')", 51803, unsure=True,
        setup=["CREATE TABLE x (v VECTOR)", "INSERT INTO x VALUES ('[1,2,3]')", "CREATE VECTOR INDEX i ON x (v) ORGANIZATION NEIGHBOR PARTITIONS"],
    ),
    *(
        Refused(f"SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, '[1,0,0]') FETCH {rows}", number, unsure=True)
        for rows, number in (
            ("APPROX FIRST 5 ROWS ONLY WITH TARGET ACCURACY 101", 51937), ("APPROX 5 ROWS ONLY", 2000), ("FIRST 5 APPROX ROWS ONLY", 2000),
        )
    ),
    # embedding, chunks, text search
    Refused("SELECT VECTOR_EMBEDDING(nomodel USING 'x' AS DATA) FROM dual", 40284),
    Refused("SELECT * FROM VECTOR_CHUNKS('x' BY WORDS MAX 5)", 30584),
    Refused("SELECT * FROM t WHERE CONTAINS(b, 'x') > 0", 20000),
    Refused("SELECT VECTOR_EMBEDDING(:m USING 'x' AS DATA) FROM dual", 904, unsure=True, binds={"m": "x"}),
    Refused("SELECT VECTOR_EMBEDDING('m' USING 'x' AS DATA) FROM dual", 904, unsure=True),
    Refused("SELECT VECTOR_EMBEDDING(nomodel, 'x') FROM dual", 2000, unsure=True),
    Refused("SELECT * FROM VECTOR_CHUNKS('x' BY CHARACTERS MAX 4001 OVERLAP 0 SPLIT BY NONE)", 30584),
    Refused("SELECT * FROM VECTOR_CHUNKS('x' BY WORDS MAX 100 OVERLAP 90)", 30585),
    Refused("SELECT * FROM VECTOR_CHUNKS('x' BY CHARACTERS MAX 100 SPLIT BY SENTENCE)", 30586),
    Refused("SELECT * FROM VECTOR_CHUNKS('x' SPLIT BY CUSTOM ('elevenbytes'))", 30587),
    Refused("SELECT VECTOR_CHUNKS('x') FROM dual", 904, unsure=True, gives=3001, differs="VECTOR_CHUNKS is refused there by name"),
    Refused(
        """SELECT * FROM DBMS_VECTOR_CHAIN.UTL_TO_CHUNKS('x', JSON('{"by":"xyz"}'))""", 20003,
        gives=3001, differs="DBMS_VECTOR_CHAIN.UTL_TO_CHUNKS is not known",
    ),
    *(
        Refused(statement, number, setup=[_TEXT_INDEX, "CREATE INDEX u_b ON u (b)"], unsure=unsure)
        for statement, number, unsure in (
            ("SELECT * FROM t WHERE CONTAINS(b, 'a AND', 1) > 0", 29902, False),
            ("SELECT * FROM t WHERE CONTAINS(b, '{a', 1) > 0", 29902, False),
            ("SELECT * FROM t WHERE CONTAINS(b, 'a', 1) > 0 AND CONTAINS(b, 'x', 1) > 0", 29907, True),
            ("SELECT SCORE(2) FROM t WHERE CONTAINS(b, 'a', 1) > 0", 29908, False),
            ("SELECT SCORE(a) FROM t WHERE CONTAINS(b, 'a', 1) > 0", 29909, False),
            (_TEXT_INDEX.replace("t_b", "t_b2"), 29879, False),
            ("DROP INDEX u_b FORCE", 29862, False),
            ("BEGIN CTX_DDL.SYNC_INDEX('NONE'); END;", 20000, False),
        )
    ),
]  # fmt: skip
