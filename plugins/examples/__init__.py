"""Examples of plugins, whole and tested. `plugins/README.md` tells how they work, and how you write your own."""
