"""For the index and `qa`: `load` reads a file, `load_all` many ahead of need, `Sandbox` the risky ones."""
