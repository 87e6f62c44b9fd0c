"""Plugins: one feature each. They read and change messages and answer with decisions; they never touch a socket."""
