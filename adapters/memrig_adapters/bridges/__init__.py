"""Bridges to agents that do not speak the contract: they learn texts, and answer questions.

Two ways of speaking to an agent are known: HTTP with JSON (`http`), and a command that is run once
for each call (`command`). Such an agent runs under memrig unchanged; what it cannot do, the bridge
does not pretend: it has no search, so it is run in mode native.
"""
