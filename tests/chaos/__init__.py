"""Chatting people, processes that die, and a check that nothing was lost.

    python -m tests.chaos --minutes 10 --people 50 [--seed 7]

It starts servers of its own, kills and restarts them at random while people chat, then lets everything come to rest
and compares what people saw with what PostgreSQL and Redis hold. Exit code 1 when an invariant is broken.
"""
