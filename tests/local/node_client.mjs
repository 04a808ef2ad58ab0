// What node-oracledb (thin) does against the local database: one check after another, each told as a line of JSON.
import oracledb from 'oracledb';
import assert from 'node:assert/strict';

const settings = {
  user: process.env.ORACLE_USER, password: process.env.ORACLE_PASSWORD, connectString: process.env.ORACLE_DSN,
};
const checks = {
  async 'versions and session'(c) {
    assert.equal(oracledb.thin, true);
    assert.match(c.oracleServerVersionString, /^23\./);
    const { rows } = await c.execute('SELECT USER, SYS_CONTEXT(\'USERENV\', \'CURRENT_SCHEMA\') FROM dual');
    assert.deepEqual(rows, [[settings.user, settings.user]]);
    await c.ping();
  },
  async 'types make the round trip'(c) {
    await c.execute(`CREATE TABLE kinds (id NUMBER GENERATED ALWAYS AS IDENTITY, n NUMBER(20, 4), d DOUBLE PRECISION,
      bd BINARY_DOUBLE, s VARCHAR2(100 CHAR), r RAW(20), day DATE, ts TIMESTAMP(6), tz TIMESTAMP WITH TIME ZONE, f BOOLEAN,
      c CLOB, b BLOB, j JSON, v VECTOR(3, FLOAT32))`);
    const when = new Date('2026-03-01T12:30:15.250Z');
    const document = { title: 'Größe', tags: ['a', 'b'], n: 1.5, none: null, yes: true };
    const { outBinds, rowsAffected } = await c.execute(
      `INSERT INTO kinds (n, d, bd, s, r, day, ts, tz, f, c, b, j, v)
       VALUES (:n, :d, :bd, :s, :r, :day, :ts, :tz, :f, :c, :b, :j, :v) RETURNING id INTO :id`,
      { n: 1234.5678, d: 0.1, bd: { type: oracledb.DB_TYPE_BINARY_DOUBLE, val: 1e300 }, s: 'Straße 🙂', r: Buffer.from([1, 2, 255]), day: when, ts: when, tz: when, f: true,
        c: 'x'.repeat(100_000), b: Buffer.alloc(100_000, 7), j: { type: oracledb.DB_TYPE_JSON, val: document },
        v: { type: oracledb.DB_TYPE_VECTOR, val: new Float32Array([1, 0.5, -2]) },
        id: { dir: oracledb.BIND_OUT, type: oracledb.NUMBER } });
    assert.equal(rowsAffected, 1);
    const { rows, metaData } = await c.execute('SELECT * FROM kinds WHERE id = :1', outBinds.id, {
      outFormat: oracledb.OUT_FORMAT_OBJECT,
      fetchInfo: { C: { type: oracledb.STRING }, B: { type: oracledb.BUFFER } },
    });
    assert.deepEqual(metaData.map((m) => m.dbTypeName), ['NUMBER', 'NUMBER', 'NUMBER', 'BINARY_DOUBLE', 'VARCHAR2', 'RAW', 'DATE',
      'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'BOOLEAN', 'CLOB', 'BLOB', 'JSON', 'VECTOR']);
    const [row] = rows;
    assert.deepEqual([row.N, row.D, row.BD, row.S, row.F], [1234.5678, 0.1, 1e300, 'Straße 🙂', true]);
    assert.deepEqual([...row.R], [1, 2, 255]);
    assert.equal(row.TS.getTime() % 1000, 250);
    assert.equal(row.TZ.getTime(), when.getTime());
    assert.equal(row.DAY.getSeconds(), 15);
    assert.equal(row.C.length, 100_000);
    assert.deepEqual([row.B.length, row.B[99_999]], [100_000, 7]);
    assert.deepEqual(row.J, document);
    assert.deepEqual([...row.V], [1, 0.5, -2]);
  },
  async 'a LOB can be streamed'(c) {
    const { rows: [[lob]] } = await c.execute('SELECT c FROM kinds');
    assert.equal(lob.length, 100_000);
    lob.setEncoding('utf8');
    let length = 0;
    for await (const part of lob) length += part.length;
    assert.equal(length, 100_000);
    const temporary = await c.createLob(oracledb.CLOB);
    temporary.end('written in a stream');
    await new Promise((resolve, reject) => temporary.on('finish', resolve).on('error', reject));
    await c.execute('INSERT INTO kinds (c) VALUES (:1)', [temporary]);
    await temporary.close();
    const { rows } = await c.execute('SELECT c FROM kinds WHERE c LIKE \'written%\'', [], { fetchInfo: { C: { type: oracledb.STRING } } });
    assert.deepEqual(rows, [['written in a stream']]);
  },
  async 'many rows go in and come out'(c) {
    await c.execute('CREATE TABLE many (id NUMBER PRIMARY KEY, s VARCHAR2(30))');
    const rows = Array.from({ length: 3000 }, (_, n) => [n, `row ${n}`]);
    const { rowsAffected } = await c.executeMany('INSERT INTO many VALUES (:1, :2)', rows, {
      bindDefs: [{ type: oracledb.NUMBER }, { type: oracledb.STRING, maxSize: 30 }],
    });
    assert.equal(rowsAffected, 3000);
    const { resultSet } = await c.execute('SELECT id, s FROM many ORDER BY id', [], { resultSet: true, fetchArraySize: 250 });
    let expected = 0;
    for await (const [id, s] of resultSet) {
      assert.deepEqual([id, s], [expected, `row ${expected}`]);
      expected += 1;
    }
    assert.equal(expected, 3000);
    let streamed = 0;
    for await (const row of c.queryStream('SELECT id FROM many WHERE id < :1', [1000])) streamed += row.length;
    assert.equal(streamed, 1000);
    const { batchErrors, dmlRowCounts } = await c.executeMany(
      'INSERT INTO many VALUES (:1, :2)', [[5000, 'ok'], [1, 'twice'], [5001, 'ok'], [5002, 'x'.repeat(31)]],
      { batchErrors: true, dmlRowCounts: true, bindDefs: [{ type: oracledb.NUMBER }, { type: oracledb.STRING, maxSize: 40 }] });
    assert.deepEqual(batchErrors.map((e) => [e.message.slice(0, 9), e.offset]), [['ORA-00001', 1], ['ORA-12899', 3]]);
    assert.deepEqual(dmlRowCounts, [1, 0, 1, 0]);
    const { outBinds } = await c.executeMany(
      'DELETE FROM many WHERE id BETWEEN :1 AND :2 RETURNING id INTO :3', [[10, 12], [20, 22]],
      { bindDefs: [{ type: oracledb.NUMBER }, { type: oracledb.NUMBER }, { type: oracledb.NUMBER, dir: oracledb.BIND_OUT }] });
    assert.deepEqual(outBinds.map(([ids]) => ids.sort()), [[10, 11, 12], [20, 21, 22]]);
  },
  async 'transactions'(c) {
    await c.commit();
    await c.execute('DELETE FROM many');
    await c.rollback();
    const { rows } = await c.execute('SELECT COUNT(*) FROM many');
    assert.deepEqual(rows, [[2996]]);
    await c.execute('UPDATE many SET s = \'mine\' WHERE id = 1');
    const other = await oracledb.getConnection(settings);
    await assert.rejects(other.execute('SELECT * FROM many WHERE id = 1 FOR UPDATE NOWAIT'), { errorNum: 54 });
    const { rows: free } = await other.execute('SELECT id FROM many WHERE id IN (1, 2) FOR UPDATE SKIP LOCKED');
    assert.deepEqual(free, [[2]]);
    await other.close();
    await c.rollback();
  },
  async 'PL/SQL with OUT and IN OUT'(c) {
    const { outBinds } = await c.execute(
      'BEGIN :sum := :a + 1; :text := :text || \'!\'; SELECT COUNT(*) INTO :n FROM many; END;',
      { a: 41, sum: { dir: oracledb.BIND_OUT, type: oracledb.NUMBER }, n: { dir: oracledb.BIND_OUT, type: oracledb.NUMBER },
        text: { dir: oracledb.BIND_INOUT, type: oracledb.STRING, val: 'hello', maxSize: 20 } });
    assert.deepEqual(outBinds, { sum: 42, n: 2996, text: 'hello!' });
    await assert.rejects(c.execute('BEGIN RAISE_APPLICATION_ERROR(-20001, \'no\'); END;'), { errorNum: 20001 });
  },
  async 'vectors are searched'(c) {
    await c.execute('CREATE TABLE points (id NUMBER PRIMARY KEY, v VECTOR(2, FLOAT32))');
    await c.executeMany('INSERT INTO points VALUES (:1, :2)', Array.from({ length: 200 }, (_, n) => [n, new Float32Array([n, 1])]),
      { bindDefs: [{ type: oracledb.NUMBER }, { type: oracledb.DB_TYPE_VECTOR }] });
    await c.execute('CREATE VECTOR INDEX points_v ON points (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE EUCLIDEAN WITH TARGET ACCURACY 95');
    const { rows } = await c.execute(
      'SELECT id FROM points ORDER BY VECTOR_DISTANCE(v, :q, EUCLIDEAN) FETCH EXACT FIRST 3 ROWS ONLY',
      { q: { type: oracledb.DB_TYPE_VECTOR, val: new Float32Array([100.1, 1]) } });
    assert.deepEqual(rows.flat(), [100, 101, 99]);
  },
  async 'errors keep the session'(c) {
    await assert.rejects(c.execute('SELECT * FROM nothing'), { errorNum: 942 });
    await assert.rejects(c.execute('SELECT 1 FROM dual LIMIT 5'), { errorNum: 3047 });
    await assert.rejects(c.execute('INSERT INTO points VALUES (:1, :2)', [999, { type: oracledb.DB_TYPE_VECTOR, val: new Float32Array([1, 2, 3]) }]), { errorNum: 51803 });
    const { rows } = await c.execute('SELECT :a || :b FROM dual', { a: 'still ', b: 'here' });
    assert.deepEqual(rows, [['still here']]);
  },
  async 'a call can be broken'(c) {
    c.callTimeout = 300;
    await assert.rejects(c.execute('BEGIN DBMS_SESSION.SLEEP(20); END;'), /NJS-123|DPI-1067/);
    c.callTimeout = 0;
    const again = await oracledb.getConnection(settings);
    const broken = again.execute('BEGIN DBMS_SESSION.SLEEP(20); END;').catch((error) => error);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await again.break();
    assert.equal((await broken).errorNum, 1013);
    assert.deepEqual((await again.execute('SELECT 1')).rows, [[1]]);
    await again.close();
  },
  async 'a pool'() {
    const pool = await oracledb.createPool({ ...settings, poolMin: 1, poolMax: 4 });
    const results = await Promise.all(Array.from({ length: 12 }, async (_, n) => {
      const c = await pool.getConnection();
      try {
        return (await c.execute('SELECT :n * 2 FROM dual', { n })).rows[0][0];
      } finally {
        await c.close();
      }
    }));
    assert.deepEqual(results, results.map((_, n) => n * 2));
    await pool.close(0);
  },
  async 'a wrong password'() {
    await assert.rejects(oracledb.getConnection({ ...settings, password: 'wrong' }), /ORA-01017/);
  },
};

const connection = await oracledb.getConnection(settings);
for (const [name, check] of Object.entries(checks)) {
  try {
    await check(connection);
    console.log(JSON.stringify({ name, ok: true }));
  } catch (error) {
    console.log(JSON.stringify({ name, ok: false, error: String(error.stack ?? error) }));
  }
}
await connection.close();
