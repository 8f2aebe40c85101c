"""REST over conversations and memory: `/api/memory/…`. Everything is the caller's own."""
