"""Oracle Net and TTC as thin clients speak them; knows nothing of SQL."""
