"""The two Lua scripts that write the hot copy. Each runs atomically, in one round trip.

Neither brings back a session that was erased, however late it comes: where no copy stands, the marker is looked for.
"""

# KEYS: messages, meta, summary, sessions, erased marker
# ARGV: last_seq before, revision, last_seq after, member, score, keep, window TTL, long TTL,
#       shown (messages added to the count), number of meta fields, meta field and value ..., items ...
APPEND = """
local held = redis.call('HMGET', KEYS[2], 'last_seq', 'revision', 'message_count')
if held[1] then
  if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
    return 'stale'
  end
elseif ARGV[1] ~= '0' or redis.call('EXISTS', KEYS[5]) == 1 then
  return 'absent'
end
local first = 11 + 2 * tonumber(ARGV[10])
local count = (held[3] or 0) + ARGV[9]
redis.call('HSET', KEYS[2], 'last_seq', ARGV[3], 'message_count', count, unpack(ARGV, 11, first - 1))
if #ARGV >= first then
  redis.call('RPUSH', KEYS[1], unpack(ARGV, first))
  redis.call('LTRIM', KEYS[1], -ARGV[6], -1)
end
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[7])
redis.call('EXPIRE', KEYS[2], ARGV[7])
redis.call('EXPIRE', KEYS[3], ARGV[8])
redis.call('EXPIRE', KEYS[4], ARGV[8])
return 'stored'
"""

# KEYS: messages, meta, summary, sessions, erased marker
# ARGV: member, score, window TTL, long TTL, summary, number of meta fields, meta field and value ..., items ...
REPLACE = """
if redis.call('EXISTS', KEYS[5]) == 1 then return 'erased' end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
local first = 7 + 2 * tonumber(ARGV[6])
redis.call('HSET', KEYS[2], unpack(ARGV, 7, first - 1))
redis.call('EXPIRE', KEYS[2], ARGV[3])
if #ARGV >= first then
  redis.call('RPUSH', KEYS[1], unpack(ARGV, first))
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
if ARGV[5] ~= '' then redis.call('SET', KEYS[3], ARGV[5], 'EX', ARGV[4]) end
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[4], ARGV[4])
return 'stored'
"""
