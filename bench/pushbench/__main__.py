"""`python -m pushbench`, which is what the launcher `./pushbench` runs."""

from pushbench.cli import main

main()
