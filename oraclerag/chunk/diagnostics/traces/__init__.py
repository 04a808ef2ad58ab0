"""What stands in a trace file: a machine for each kind of trace or dump, and what all of them share.

:mod:`machine` is what a machine is, and what writes its units; :mod:`session` what the header and the marks of the file
say about everything that follows. :mod:`statement_text` reads a statement by its length. The machines take turns in
:mod:`oraclerag.chunk.diagnostics.trace_file`.
"""
