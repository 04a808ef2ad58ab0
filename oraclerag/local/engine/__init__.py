"""Oracle SQL on PostgreSQL; knows nothing of packets."""
