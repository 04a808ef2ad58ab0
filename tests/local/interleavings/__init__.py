"""The write path in every order: real workers on real connections, stopped before each statement by a director."""
