-- Say whether a request may be sent now, which is then counted: 0, or else the milliseconds to wait; -1 if nobody knows.
--
-- The clock is that of Redis, since those of machines differ. Times are in milliseconds. `next` is when a request is due
-- (GCRA: https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm); `leases` are the requests under way, with the time
-- at which each has ended at the latest, so that those of a process that died come back. What cannot come from this
-- script, or is further away than we ever wait, such as after the clock was set back, is removed: else one wrong key
-- would hold up everybody for ever.
local next_key, leases, rest = KEYS[1], KEYS[2], KEYS[3]
local interval, burst, concurrent = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local lease, ticket = tonumber(ARGV[4]), ARGV[5]
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local far = 120000
local function ask(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  redis.call('DEL', key)
end
local resting = redis.call('PTTL', rest)
if resting > far then redis.call('DEL', rest) elseif resting > 0 then return resting end
local due = tonumber(ask('GET', next_key) or '0') or 0
if not (due <= now + burst * interval + far) then due = 0 end
local wait = due - (burst - 1) * interval - now
if wait > 0 then return math.ceil(wait) end
if concurrent > 0 then
  ask('ZREMRANGEBYSCORE', leases, '-inf', now)
  redis.call('ZREMRANGEBYSCORE', leases, now + far, '+inf')
  if redis.call('ZCARD', leases) >= concurrent then return -1 end
  redis.call('ZADD', leases, now + lease, ticket)
  redis.call('PEXPIRE', leases, math.ceil(lease) + 60000)
end
if interval > 0 then
  local following = math.max(due, now) + interval
  redis.call('SET', next_key, string.format('%.3f', following), 'PX', math.ceil(following - now) + 1000)
end
return 0
