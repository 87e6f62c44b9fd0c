"""Examples of plugins, complete and tested. `plugins/README.md` explains them, and how to write your own."""
