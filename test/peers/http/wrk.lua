-- Four requests at a time, each answer compared with what was sent. Bodies
-- differ, so that one answer cannot stand for another.
local bodies, threads = {}, {}

function setup(thread)
  table.insert(threads, thread)
end

function init()
  received, wrong = 0, 0
  local requests = {}
  for i = 1, 4 do
    bodies[i] = string.rep(string.char(96 + i), 100 * i)
    requests[i] = wrk.format("POST", nil, nil, bodies[i])
  end
  batch = table.concat(requests)
end

function request()
  return batch
end

-- Answers of different connections come mixed, so only those that match no
-- request are wrong.
function response(status, _, body)
  received = received + 1
  local known = false
  for i = 1, 4 do
    known = known or body == bodies[i]
  end
  if status ~= 200 or not known then
    wrong = wrong + 1
  end
end

function done(summary)
  local received, wrong = 0, 0
  for _, thread in ipairs(threads) do
    received = received + thread:get("received")
    wrong = wrong + thread:get("wrong")
  end
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  if received == 0 or wrong + failed > 0 then
    io.stderr:write(string.format("wrk: %d answers, %d of them wrong, %d failures\n", received, wrong, failed))
    os.exit(1)
  end
end
