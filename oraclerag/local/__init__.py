"""The local database: a development stand-in for Oracle, for machines with neither Oracle nor Docker."""
