"""`pushbench ci doctor`: whether a repository on GitHub is set up as docs/github.md says.

`gathering` queries GitHub and makes `facts` from `answers`; the modules `*_checks` read the facts and decide;
`diagnosis` puts the `finding`s in the order of the steps; `showing` prints them.
"""
