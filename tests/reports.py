"""Reports of any size, made after the documented formats: for benchmarks, and for tests of memory and time."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "alert_log",
    "awr_html",
    "data_pump_log",
    "health_check",
    "listener_log",
    "optimizer_trace",
    "plan",
    "request_log",
    "rman_output",
    "spool",
    "sql_loader_log",
    "sql_trace",
    "sqlhc_html",
    "statspack",
    "tkprof",
]

_PAGE = 60
_RULE = f"{' ' * 10}{'-' * 61}\n"


def awr_html(rows: int) -> Iterator[str]:
    """Give an AWR report as HTML with so many wait events and so many statements."""
    yield '<html><head><title>AWR Report for DB: SYN1, Inst: syn1, Snaps: 100-101</title></head><body class="awr">\n'
    yield '<h1 class="awr">\nWORKLOAD REPOSITORY report for\n</h1>\n<h2 class="awr">Wait Events Statistics</h2>\n'
    yield '<h3 class="awr">Foreground Wait Events</h3>\n<table summary="This table displays Foreground Wait Events">\n'
    yield "<tr><th>Event</th><th>Waits</th></tr>\n"
    for number in range(rows):
        yield f"<tr><td class='awrnc'>synthetic event {number}</td><td align=\"right\">{number * 7:,}</td></tr>\n"
    yield '</table>\n<h2 class="awr">SQL Statistics</h2><h3 class="awr">Complete List of SQL Text</h3>\n<table>\n'
    yield "<tr><th>SQL Id</th><th>SQL Text</th></tr>\n"
    for number in range(rows):
        text = f"insert into t_syn_{number} values (:b1, :b2)"
        yield f"<tr><td>{number:013}</td><td>{text}</td></tr>\n"
    yield "</table>\nEnd of Report\n</body></html>\n"


def health_check(rows: int) -> Iterator[str]:
    """Give a health-check report with so many checks, every third failed and with details."""
    yield "SYS-03 Tablespace Health Check\nInstance : SYN1\n\nTablespaces\n-----------\n"
    for number in range(rows):
        if number % 3:
            yield f"[PASS] TS_{number} is below 85 %\n"
        else:
            yield f"[FAIL] TS_{number} cannot be extended\n       ORA-01652: unable to extend temp segment by 128\n"


def plan(rows: int) -> Iterator[str]:
    """Give a plan with so many rows, and a predicate for each."""
    yield "SQL_ID  9z8y7x6w5v4u3, child number 0\n-------------------------------------\nselect 1 from t_syn\n \n"
    yield "Plan hash value: 1231231234\n \n"
    rule = f"{'-' * 60}\n"
    yield f"{rule}| Id    | Operation         | Name            | Rows      |\n{rule}"
    for number in range(rows):
        yield f"|* {number:>5} | TABLE ACCESS FULL | T_SYN_{number:<9} | {number * 7:>9} |\n"
    yield f"{rule} \nPredicate Information (identified by operation id):\n---------------------------------------------------\n"
    for number in range(rows):
        yield f'{number:>6} - filter("ID"={number})\n'


def sqlhc_html(rows: int) -> Iterator[str]:
    """Give a report of SQLHC as HTML with so many observations."""
    yield "<html>\n<!-- $Header: 1366133.1 sqlhc.sql 12.1.07 2031/01/01 $ -->\n<body>\n"
    yield "<h1>1366133.1 SQLHC 12.1.07 Report</h1>\n<pre>\nInput      : 0a1b2c3d4e5f6\n</pre>\n<h2>Observations</h2>\n"
    yield "<table>\n<tr>\n<th>#</th><th>Type</th><th>Name</th><th>Observation</th><th>Details</th>\n</tr>\n"
    for number in range(rows):
        yield f"<tr>\n<td>{number}</td>\n<td>TABLE</td>\n<td>APPX.T_SYN_{number}</td>\n<td>Table lacks statistics.</td>\n"
        yield "<td>Refer to Doc ID 999999.1</td>\n</tr>\n"
    yield "</table>\n</body></html>\n"


def statspack(rows: int) -> Iterator[str]:
    """Give a Statspack report with so many wait events and so many statements, page breaks included."""
    yield "STATSPACK report for\n\nBegin Snap:        100 05-Apr-31 06:00:12      120       2.1\n\n"
    title = "Foreground Wait Events  DB/Inst: SYN1/syn1  Snaps: 100-101\n-> ordered by Total Wait Time desc\n\n"
    header = (
        "Event                               Waits  Time (s)\n---------------------------- ------------ ---------\n"
    )
    for number in range(rows):
        if number % _PAGE == 0:
            yield title + header
        yield f"synthetic event {number:<12} {number * 7:>12,} {number % 100:>9}\n"
    yield _RULE
    title = "SQL ordered by Gets  DB/Inst: SYN1/syn1  Snaps: 100-101\n\n"
    header = "  Buffer Gets    Executions %Total Hash Value\n--------------- ------------ ------ ----------\n"
    for number in range(rows):
        if number % 10 == 0:
            yield title + header
        yield f"{number * 1000:>15,} {number:>12,} {number % 50:>6} {1_000_000_000 + number}\nModule: e:SQLAP:cp:syn\n"
        yield f"insert into t_syn_{number} (identifier, txt) values (:b1\n, :b2)\n\n"
    yield f"{_RULE}\nEnd of Report\n"


_TRACE_HEADER = """Trace file /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_ora_4711.trc
Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
Version 19.99.0.0.0
Node name:\tsynhost
Instance name: SYN1


*** 2031-04-05T06:07:08.000123+02:00 (PDBX(3))
*** SESSION ID:(77.4242) 2031-04-05T06:07:08.000140+02:00
*** MODULE NAME:(invoice load) 2031-04-05T06:07:08.000150+02:00

"""


def sql_trace(records: int) -> Iterator[str]:
    """Give a SQL trace with about so many records: waits, binds, recursive statements, numbers that are used again."""
    yield _TRACE_HEADER
    written = number = 0
    while written < records:
        number += 1
        cursor, inner = 140_000_000 + number % 50, 150_000_000 + number % 7
        tim = 5_000_000 + number * 100
        sql = f"insert into t_syn_{number % 400} (id, txt) values (:b1, 'ORA-00001 is no error')"
        yield "=====================\n"
        yield (
            f"PARSING IN CURSOR #{cursor} len={len(sql)} dep=0 uid=91 oct=2 lid=91 tim={tim} hv={number} "
            f"ad='7f00aa10' sqlid='{number:0>13}'\n{sql}\nEND OF STMT\n"
            f"PARSE #{cursor}:c=90,e=101,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=0,tim={tim}\n"
        )
        for execution in range(5):
            yield f"BINDS #{cursor}:\n\n Bind#0\n  oacdty=01 mxl=32(20) mxlc=00 mal=00 scl=00 pre=00\n"
            yield f'  kxsbbbfp=7f00bb20  bln=32  avl=17  flg=05\n  value="value {execution} of {number}"\n'
            yield f"WAIT #{inner}: nam='db file sequential read' ela= 812 file#=7 block#=130 blocks=1 obj#=2 tim={tim}\n"
            yield f"FETCH #{inner}:c=0,e=15,p=1,cr=3,cu=0,mis=0,r=1,dep=1,og=4,plh=77,tim={tim}\n"
            yield f"WAIT #{cursor}: nam='log file sync' ela= 99 buffer#=1 sync scn=2 p3=0 obj#=-1 tim={tim}\n"
            yield f"EXEC #{cursor}:c=200,e=1500,p=1,cr=2,cu=4,mis=0,r=1,dep=0,og=1,plh=0,tim={tim}\n"
        yield f"STAT #{cursor} id=1 cnt=0 pid=0 pos=1 obj=0 op='LOAD TABLE CONVENTIONAL  (cr=2 pr=1 pw=0 time=15 us)'\n"
        yield f"CLOSE #{cursor}:c=3,e=3,dep=0,type=3,tim={tim}\nXCTEND rlbk=0, rd_only=0, tim={tim}\n"
        written += 29


def tkprof(statements: int) -> Iterator[str]:
    """Give a TKPROF report with so many statements; every third has a line break in its text, and so no SQL ID."""
    rule = "*" * 80 + "\n"
    yield "\nTKPROF: Release 19.0.0.0.0 - Development on Sat Apr 5 06:30:00 2031\n\n"
    yield f"Trace file: SYN1_ora_4711.trc\nSort options: default\n\n{rule}"
    yield f"count    = number of times OCI procedure was executed\nrows     = number of rows\n{rule}\n"
    head = "call     count       cpu    elapsed       disk      query    current        rows\n"
    dashes = "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"
    row = "      1      0.00       0.01          1          3          7           1\n"
    for number in range(statements):
        if number % 3:
            yield f"SQL ID: {number:0>13} Plan Hash: {number + 1}\n\nselect *\nfrom\n t_syn_{number}\n\n\n"
        else:
            yield f"BEGIN\n  syn_load_{number}; -- not ORA-06550\nEND;\n\n"
        yield f"{head}{dashes}Parse  {row}Execute{row}Fetch  {row}{dashes}total  {row}\n"
        yield "Misses in library cache during parse: 1\nOptimizer mode: ALL_ROWS\nParsing user id: 91  \n\n"
        yield "Rows (1st) Rows (avg) Rows (max)  Row Source Operation\n---------- ---------- ----------  ------------\n"
        yield f"         1          1          1  TABLE ACCESS FULL T_SYN_{number} (cr=3 pr=1 pw=0 time=19 us starts=1)\n"
        yield "\nElapsed times include waiting on following events:\n"
        yield "  Event waited on                             Times   Max. Wait  Total Waited\n"
        yield "  ----------------------------------------   Waited  ----------  ------------\n"
        yield f"  SQL*Net message to client                       1        0.00          0.00\n{rule}\n"
    for kind in ("NON-RECURSIVE", "RECURSIVE"):
        yield f"OVERALL TOTALS FOR ALL {kind} STATEMENTS\n\n{head}{dashes}Parse  {row}{dashes}total  {row}\n"
    yield f"{rule}Trace file: SYN1_ora_4711.trc\n       1  session in tracefile.\n"


def optimizer_trace(statements: int) -> Iterator[str]:
    """Give an optimizer trace with so many statements."""
    yield _TRACE_HEADER
    for number in range(statements):
        yield f"Registered qb: SEL$1 0x7f00aa10 (PARSER)\n---------------------\nQUERY BLOCK SIGNATURE\n{'-' * 21}\n"
        yield f"  signature (): qb_name=SEL$1 nbfros=1 flg=0\n\n{'*' * 42}\n"
        yield f"----- Current SQL Statement for this session (sql_id={number:0>13}) -----\n"
        yield f"select count(*) from t_syn_{number} where id < 100\n{'*' * 43}\n"
        yield f"  {'*' * 37}\n  PARAMETERS WITH DEFAULT VALUES\n  {'*' * 30}\n"
        for parameter in range(40):
            yield f"_optimizer_synthetic_{parameter:<14} = true\n"
        yield f"{'*' * 39}\nBASE STATISTICAL INFORMATION\n{'*' * 23}\nTable Stats::\n  Table: T_SYN_{number}\n"
        yield f"Access path analysis for T_SYN_{number}\n{'*' * 39}\nSINGLE TABLE ACCESS PATH \n"
        yield "  Access Path: TableScan\n    Cost:  18.41  Resp: 18.41  Degree: 0\n  Best:: AccessPath: TableScan\n\n"
        yield f"{'*' * 39}\n\nOPTIMIZER STATISTICS AND COMPUTATIONS\n{'*' * 39}\nGENERAL PLANS\n{'*' * 39}\n"
        yield f"Join order[1]:  T_SYN_{number}[T_SYN_{number}]#0\n{'*' * 23}\nBest so far:  Table#: 0  cost: 18.4\n"
        yield "====================== END SQL Statement Dump ======================\n"


def alert_log(entries: int) -> Iterator[str]:
    """Give an alert log of 19c with so many entries: log switches, errors, noise, what is stamped apart, a startup."""
    for number in range(entries):
        day, second = number // 2000 % 28 + 1, number % 2000
        stamp = f"2031-04-{day:02}T{second // 100:02}:{second % 60:02}:{number % 60:02}.{number % 10**6:06}+02:00\n"
        kind = number % 10
        if number % 5000 == 4999:
            yield f"{stamp}Starting ORACLE instance (normal) (OS id: {number})\nSystem parameters with non-default values:\n"
            yield "".join(f"  synthetic_parameter_{at:<8} = {at}\n" for at in range(40))
            yield f"{stamp}Completed: ALTER DATABASE OPEN\n"
        elif kind < 5:
            yield f"{stamp}WARNING: inbound connection timed out (ORA-3136)\n"
        elif kind < 8:
            yield f"{stamp}Thread 1 advanced to log sequence {number} (LGWR switch),  current SCN: {number * 7}\n"
            yield f"  Current log# 1 seq# {number} mem# 0: /u02/oradata/SYN1/redo01.log\n"
        elif kind == 8:
            yield f"{stamp}PDBX(3):ORA-01555 caused by SQL statement below (SQL ID: {number:013}, SCN: 0x{number:x}):\n"
            yield f"{stamp}PDBX(3):SELECT *\nFROM appx.t_syn_{number}\n"
        else:
            yield f"{stamp}Errors in file /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_j001_{number}.trc:\n"
            yield f'ORA-12012: error on auto execute of job "APPX"."JOB_{number}"\nORA-01438: value larger than allowed\n'
            yield f'ORA-06512: at "APPX.CLOSE_PKG", line {number % 900}\n'


def listener_log(lines: int) -> Iterator[str]:
    """Give a listener's log with about so many lines: connections, failures, announcements of services."""
    for number in range(lines):
        stamp = f"05-APR-2031 {number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
        if number % 10 == 9:
            yield f"{stamp} * service_update * SYN1 * 0\n"
            continue
        code = 12514 if number % 50 == 7 else 0
        yield f"{stamp} * (CONNECT_DATA=(SERVICE_NAME=svc{code})(CID=(PROGRAM=app)(HOST=client{number % 40})(USER=appx)))"
        yield f" * (ADDRESS=(PROTOCOL=tcp)(HOST=192.0.2.20)(PORT={20000 + number % 40000})) * establish * svc * {code}\n"
        if code:
            yield "TNS-12514: TNS:listener does not currently know of service requested in connect descriptor\n"


def data_pump_log(objects: int) -> Iterator[str]:
    """Give the log of an import of so many objects: tables, what exists already, what failed with its statement."""
    yield "\nImport: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031\nVersion 19.99.0.0.0\n\n"
    yield 'Starting "APPX"."SYS_IMPORT_FULL_01":  appx/******** dumpfile=syn.dmp\n'
    for number in range(objects):
        if number % 500 == 0:
            yield f"Processing object type SCHEMA_EXPORT/TYPE_{number // 500}/TABLE_DATA\n"
        if number % 3 == 0:
            yield f'. . imported "APPX"."T_SYN_{number}"                    10.51 KB     100 rows\n'
        elif number % 3 == 1:
            yield f'ORA-31684: Object type SEQUENCE:"APPX"."S_{number}" already exists\n'
        else:
            yield f'ORA-39083: Object type REF_CONSTRAINT:"APPX"."FK_{number}" failed to create with error:\n'
            yield "ORA-02298: cannot validate - parent keys not found\n\nFailing sql is:\n"
            yield f'ALTER TABLE "APPX"."T_SYN" ADD CONSTRAINT "FK_{number}" FOREIGN KEY ("PID")\n REFERENCES "APPX"."T"\n'
    yield 'Job "APPX"."SYS_IMPORT_FULL_01" completed with 2 error(s) at Sat Apr 5 06:07:14 2031 elapsed 0 00:00:05\n'


def sql_loader_log(records: int) -> Iterator[str]:
    """Give the log of a load with so many rejected records."""
    yield "\nSQL*Loader: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031\n\nControl File:   syn.ctl\n\n"
    yield "Table T_SYN, loaded from every logical record.\nInsert option in effect for this table: APPEND\n\n"
    for number in range(1, records + 1):
        yield f"Record {number}: Rejected - Error on table T_SYN, column TXT.\n"
        yield f'ORA-12899: value too large for column "APPX"."T_SYN"."TXT" (actual: {number}, maximum: 40)\n\n'
    yield f"\nTable T_SYN:\n  0 Rows successfully loaded.\n  {records} Rows not loaded due to data errors.\n"


def rman_output(commands: int) -> Iterator[str]:
    """Give the output of so many commands of RMAN, every third of which fails."""
    yield "Recovery Manager: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031\n\n"
    for number in range(commands):
        yield f"RMAN> restore datafile {number};\n\nStarting restore at 05-APR-31\nallocated channel: ORA_DISK_1\n"
        if number % 3 == 0:
            yield f"RMAN-00571: {'=' * 59}\nRMAN-00569: {'=' * 15} ERROR MESSAGE STACK FOLLOWS {'=' * 15}\n"
            yield f"RMAN-00571: {'=' * 59}\nRMAN-03002: failure of restore command at 04/05/2031 06:07:12\n"
            yield f'ORA-19505: failed to identify file "/u03/syn_{number}.bkp"\nORA-27037: unable to obtain file status\n'
            yield "Linux-x86_64 Error: 2: No such file or directory\n\n"
        else:
            yield "Finished restore at 05-APR-31\n\n"


def request_log(messages: int) -> Iterator[str]:
    """Give the log of a concurrent request with so many messages, every fifth of which is an error."""
    rule = f"+{'-' * 75}+\n"
    yield f"{rule}Payables: Version : 12.0.0\n\nCopyright (c) 1979, 1999, Oracle Corporation. All rights reserved.\n\n"
    yield f"APXSYN module: Synthetic Invoice Validation\n{rule}\nCurrent system time is 05-APR-2031 06:07:08\n{rule}\n"
    yield "**Starts**05-APR-2031 06:07:09\n"
    for number in range(messages):
        if number % 5:
            yield f"Validating invoice SYN-{number}\n"
        else:
            yield "APP-SQLAP-10771: ORACLE error 1000 in fetch_lines\n\n"
            yield f"Cause: fetch_lines failed due to ORA-01000: maximum open cursors exceeded at {number}.\n\n"
    yield f"**Ends**05-APR-2031 06:08:08\n{rule}Concurrent request completed with warning\n{rule}"


def spool(statements: int) -> Iterator[str]:
    """Give a spool of so many statements: results, long results, errors."""
    for number in range(statements):
        if number % 3 == 0:
            yield f"SQL> insert into t_syn values ({number});\ninsert into t_syn values ({number})\n            *\n"
            yield "ERROR at line 1:\nORA-00001: unique constraint (APPX.SYN_PK) violated\n\n\n"
        else:
            yield f"SQL> select a, b\n  2  from t_syn_{number};\n\n         A          B\n---------- ----------\n"
            for row in range(5 if number % 30 else 200):
                yield f"{row:>10} {row * 7:>10}{' ' * 60}\n"
            yield "\n5 rows selected.\n\n"
