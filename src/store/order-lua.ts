/*
 * The order of jobs within a key, on top of BullMQ 6.7. Each key has a line: the ids of its jobs that are not finished.
 * The head of the line is with BullMQ (waiting, active, or delayed for its backoff); the others are parked in BullMQ's
 * `delayed` set, far in the future, so that each message is one job that an operator can see. Whoever finishes the head
 * lets the next one go, in the same script.
 *
 * A job's mark says where it stands, and outlives the job:
 *   q            stands in line, and no run of it has begun; if it is in `delayed`, it is parked
 *   run:<fence>  at the head; the run with this fence is, or was, its last one; if it is in `delayed`, it waits for a retry
 *   dying:<fence>:<reason>  at the head; it has failed for good and will not run again, but not everybody has been told
 *   done, dead   it has left the line; kept for the dedupe window
 *   gone         it was at the head and an operator had removed the job; kept for the dedupe window
 *
 * The scripts know this much of BullMQ's layout, and tests hold them to it: a job is the hash `<base><id>`, its lock
 * `<base><id>:lock`; `wait` and `active` are lists, taken from at the right; `delayed` is a sorted set with scores
 * `ms * 4096`; member `0` of `marker` wakes the workers; `paused` in `meta` stops them.
 */
const prelude = `
local rcall = redis.call
local base, marks, line, due, key = ARGV[1], ARGV[2], KEYS[1], KEYS[2], ARGV[3]
local now, dedupeMs, lookMs = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])

local function finished(mark)
  return mark == 'done' or mark == 'dead' or mark == 'gone'
end

-- The first of the line whose job still exists. A run whose job was removed under its hands holds its place: by its lock.
local function headOf(line)
  local id = rcall('LINDEX', line, 0)
  while id and rcall('HEXISTS', base .. id, 'data') == 0 and rcall('EXISTS', base .. id .. ':lock') == 0 do
    rcall('SET', marks .. id, 'gone', 'PX', dedupeMs)
    rcall('LPOP', line)
    id = rcall('LINDEX', line, 0)
  end
  return id
end

local function wakeWorkers()
  local meta = rcall('HMGET', base .. 'meta', 'paused', 'concurrency')
  if not meta[1] and not (meta[2] and rcall('LLEN', base .. 'active') >= tonumber(meta[2])) then
    rcall('ZADD', base .. 'marker', 0, '0')
  end
end

local function toWait(id, from)
  rcall('LPUSH', base .. 'wait', id)
  rcall('HSET', base .. id, 'delay', 0)
  wakeWorkers()
  rcall('XADD', base .. 'events', 'MAXLEN', '~', 10000, '*', 'event', 'waiting', 'jobId', id, unpack(from))
end

-- Lets a parked head go. A head that waits for its retry stays where it is.
local function wake(id)
  if id and rcall('GET', marks .. id) == 'q' and rcall('ZSCORE', base .. 'delayed', id) then
    toWait(id, {'prev', 'delayed'})
    rcall('ZREM', base .. 'delayed', id)
    return 1
  end
  return 0
end

-- After the head has left: the next one goes, or the line ends.
local function advance(line, key)
  local id = headOf(line)
  if id then
    rcall('ZADD', due, now + lookMs, key)
    wake(id)
  else
    rcall('ZREM', due, key)
  end
end
`;

/** ARGV 7 id, 8 data, 9 options, 10 when it would leave the parking, ms → 1 queued, 0 duplicate */
export const enqueueLua = `${prelude}
local id, parkUntil = ARGV[7], ARGV[10]
local known = rcall('EXISTS', marks .. id) == 1
if not known and rcall('EXISTS', base .. id) == 1 then
  -- A finished job that is still shown, although its id is forgotten, makes room for the new one.
  local shown = rcall('ZREM', base .. 'completed', id) + rcall('ZREM', base .. 'failed', id)
  if shown > 0 then rcall('DEL', base .. id, base .. id .. ':logs') else known = true end
end
if known then
  wake(headOf(line))
  return 0
end
rcall('SET', marks .. id, 'q')
local head = headOf(line)
rcall('RPUSH', line, id)
rcall('ZADD', due, 'NX', now + lookMs, key)
local delay = 0
if head then delay = tonumber(parkUntil) - now end
rcall('HSET', base .. id, 'name', key, 'data', ARGV[8], 'opts', ARGV[9], 'timestamp', ARGV[4], 'delay', delay, 'priority', 0)
rcall('XADD', base .. 'events', 'MAXLEN', '~', 10000, '*', 'event', 'added', 'jobId', id, 'name', key)
if head then
  rcall('ZADD', base .. 'delayed', string.format('%.0f', tonumber(parkUntil) * 4096), id)
  rcall('XADD', base .. 'events', '*', 'event', 'delayed', 'jobId', id, 'delay', parkUntil)
  wake(head)
else
  toWait(id, {})
end
return 1
`;

/**
 * KEYS 3 fence; ARGV 7 id, 8 lock token
 * → {'run', fence, crashes} | {'dying', fence, reason} it has to be buried | {'dead'} it is | {'wait'} not at the head | {'finished'} nothing to do | {'lost'} another worker has it
 */
export const acquireLua = `${prelude}
local id = ARGV[7]
if rcall('GET', base .. id .. ':lock') ~= ARGV[8] then return {'lost'} end
local mark = rcall('GET', marks .. id)
if mark == 'done' then
  wake(headOf(line))
  return {'finished'}
end
if mark == 'dead' and rcall('HGET', base .. id, 'stc') ~= '0' then return {'dead'} end
if not mark or finished(mark) then
  -- An operator had a dead job tried again, or added one by hand: it stands in line like a new one.
  rcall('SET', marks .. id, 'q')
  rcall('RPUSH', line, id)
  rcall('ZADD', due, 'NX', now + lookMs, key)
end
local head = headOf(line)
if head ~= id and not rcall('LPOS', line, id) then
  rcall('RPUSH', line, id)
  head = headOf(line)
end
if head ~= id then
  wake(head)
  return {'wait'}
end
-- Microseconds since 1970 where the clock is ahead, so that a counter that Redis lost in a crash never goes back.
local time = rcall('TIME')
local fence = math.max(tonumber(rcall('GET', KEYS[3]) or '0') + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))
local text = string.format('%.0f', fence)
rcall('SET', KEYS[3], text)
rcall('ZADD', due, now + lookMs, key)
local reason = mark and string.match(mark, '^dying:%d+:(.*)$')
if reason then
  rcall('SET', marks .. id, 'dying:' .. text .. ':' .. reason)
  return {'dying', text, reason}
end
rcall('SET', marks .. id, 'run:' .. text)
return {'run', text, rcall('HGET', base .. id, 'stc') or '0'}
`;

/** ARGV 7 id, 8 fence, 9 reason → 1 it will not run again, 0 a later run has it, or it had left the line */
export const condemnLua = `${prelude}
local id = ARGV[7]
if rcall('GET', marks .. id) ~= 'run:' .. ARGV[8] then return 0 end
rcall('SET', marks .. id, 'dying:' .. ARGV[8] .. ':' .. ARGV[9])
return 1
`;

/**
 * ARGV 7 id, 8 fence, 9 outcome: done by a run, dead after it was condemned
 * → 'released' | 'finished' it had left the line | 'fenced' a later run has it
 */
export const releaseLua = `${prelude}
local id = ARGV[7]
local mark = rcall('GET', marks .. id)
local dying = 'dying:' .. ARGV[8] .. ':'
local own = (ARGV[9] == 'done' and mark == 'run:' .. ARGV[8])
  or (ARGV[9] == 'dead' and mark and string.sub(mark, 1, #dying) == dying)
if not own then
  if not mark or finished(mark) then return 'finished' end
  return 'fenced'
end
rcall('SET', marks .. id, ARGV[9], 'PX', dedupeMs)
rcall('LREM', line, 1, id)
-- From here on a count of stalls other than this tells a run that died before BullMQ knew, from an operator's retry.
if ARGV[9] == 'dead' and rcall('HEXISTS', base .. id, 'data') == 1 then rcall('HSET', base .. id, 'stc', 0) end
advance(line, key)
return 'released'
`;

/** Lets the head of a line go, if it is parked. → 1 it was, 0 it was not */
export const wakeLua = `${prelude}
return wake(headOf(line))
`;

/**
 * ARGV 7 beginning of the lines' keys, 8 how many lines at most, 9 ms until a head that has to be buried
 * is looked at again
 * → heads that BullMQ holds for finished although they never left their line: {key, id, 'completed' | 'failed', ...}
 */
export const sweepLua = `${prelude}
local unburied = {}
local keys = rcall('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, tonumber(ARGV[8]))
for _, key in ipairs(keys) do
  rcall('ZADD', due, now + lookMs, key)
  local line = ARGV[7] .. key
  local id = headOf(line)
  if not id then
    rcall('ZREM', due, key)
  elseif wake(id) == 0 and rcall('EXISTS', base .. id .. ':lock') == 0 and not rcall('ZSCORE', base .. 'delayed', id) then
    local state = (rcall('ZSCORE', base .. 'completed', id) and 'completed') or (rcall('ZSCORE', base .. 'failed', id) and 'failed')
    if state then
      rcall('ZADD', due, now + tonumber(ARGV[9]), key)
      table.insert(unburied, key)
      table.insert(unburied, id)
      table.insert(unburied, state)
    elseif rcall('LLEN', base .. 'wait') <= 1000 and not rcall('LPOS', base .. 'wait', id)
      and not rcall('LPOS', base .. 'active', id) and not rcall('ZSCORE', base .. 'prioritized', id) then
      -- BullMQ has the job, and holds it nowhere: somebody's hands were in the database.
      toWait(id, {})
    end
  end
end
-- A worker that froze or lost its connection may have taken the wake-up of the others with it.
local nextDelayed = rcall('ZRANGE', base .. 'delayed', 0, 0, 'WITHSCORES')[2]
if rcall('LLEN', base .. 'wait') > 0 or (nextDelayed and tonumber(nextDelayed) <= now * 4096) then wakeWorkers() end
table.insert(unburied, #keys)
return unburied
`;

/** ARGV 7 id, 8 outcome (done, dead): a head that BullMQ holds for finished leaves its line. → 1 it did, 0 it was not there */
export const buryLua = `${prelude}
local id = ARGV[7]
if rcall('LINDEX', line, 0) ~= id then return 0 end
if not rcall('ZSCORE', base .. 'completed', id) and not rcall('ZSCORE', base .. 'failed', id) then return 0 end
rcall('SET', marks .. id, ARGV[8], 'PX', dedupeMs)
rcall('LPOP', line)
if ARGV[8] == 'dead' then rcall('HSET', base .. id, 'stc', 0) end
advance(line, key)
return 1
`;
