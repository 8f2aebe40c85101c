"""How memory behaves unless the installation says otherwise. Every name here is a setting."""

from config import env

# The window and the rolling summary
WINDOW_MESSAGES = 40
WINDOW_TTL = 7 * 24 * 3600
SUMMARY_TTL = 30 * 24 * 3600
SUMMARY_TRIGGER_MESSAGES = 30  # so many uncovered messages make a session due
SUMMARY_KEEP_TURNS = 10  # the newest turns always stay verbatim
SUMMARY_TOKENS = 200  # about how long a summary is

# Recall
RECALL_SECONDS = 0.3  # a turn waits no longer for what was said elsewhere
SEARCH_SECONDS = 2.0  # a person who searches waits longer than a turn does
RECALL_LIMIT = 6  # memories that a prompt is given at most
RECALL_TOKENS = 1200  # what they may take of it together
RECALL_THREADS = 4
RECALL_QUERY = "rewritten"  # or "user": always the person's own words, even where a flow asks for rewriting

# Episodes
MEMORY_REST_SECONDS = 120  # a session that was idle for so long is consolidated
MEMORY_REST_TURNS = 8  # or one with so many new turns
MEMORY_MIN_IMPORTANCE = 2  # 1 to 5; what is less important is not stored
MEMORY_ONLY_IMPORTANT = False  # store sessions alone that their owner marked as important
INSIGHT_REST_SECONDS = 600  # a memory is read for what it shows of the person once it is so old

# Retention, in days; 0 keeps for good
# A session goes so long after it was last active
TRANSCRIPT_DAYS = env.number("TRANSCRIPT_DAYS", default=365, at_least=0)
# A memory rests when it is so old: not recalled, still found; pinned and written ones never
EPISODE_ARCHIVE_DAYS = env.number("EPISODE_ARCHIVE_DAYS", default=90, at_least=0)
# A suggested tag goes so long after it was last noticed, when its owner has not decided on it
SUGGESTION_DAYS = env.number("SUGGESTION_DAYS", default=90, at_least=0)
