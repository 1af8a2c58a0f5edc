"""The publish script: what happens to an event in Redis, in one atomic step."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sidestream.keys import Keys

# KEYS[1] is the stream and KEYS[2] the receipt of the event that came before this part of a pipeline (the
# stream again where there is none); then each event has its receipt, where it is a message its tail, and where
# it may be a session's first event the session's owner. ARGV is receipt_ttl (ms), tail_ttl (ms), tail_max and, as
# JSON, a list with one item an event: its digest, whether it has a tail, its fields as a flat list, and whose it
# makes a new session. (One JSON text costs less than an argument a field.)
#
# - The event before is not there: its part of the pipeline failed, so this one fails too, for order's sake.
# - A receipt with the same digest: the event is there; its entry id is the answer and nothing is written.
# - A receipt with another digest: the entry is added, so that the consumer can bury it with its reason; the
#   first event's receipt and the tail stay as they are.
# - A tail that does not take the entry (another type, or ids ahead of the stream after the stream was
#   deleted) is begun anew: a tail may be lost, an event may not.
# - The owner is set by what is first: while no worker stores it, nothing else tells whose a session is that began
#   with an event which is no message, or whose tail has lost its first one.
LUA = """
if KEYS[2] ~= KEYS[1] and redis.call('EXISTS', KEYS[2]) == 0 then
  return redis.error_reply('TRYAGAIN the event before this one was not accepted')
end
local out, tails, key = {}, {}, 3
for _, event in ipairs(cjson.decode(ARGV[4])) do
  local digest, tailed, fields, opener = event[1], event[2], event[3], event[4]
  local tail, owner = KEYS[key + 1], KEYS[key + (tailed and 2 or 1)]
  local receipt = redis.call('GET', KEYS[key])
  local space = receipt and string.find(receipt, ' ', 1, true)
  if space and string.sub(receipt, space + 1) == digest then
    out[#out + 1] = string.sub(receipt, 1, space - 1)
  else
    local entry = redis.call('XADD', KEYS[1], '*', unpack(fields))
    if not receipt then
      redis.call('SET', KEYS[key], entry .. ' ' .. digest, 'PX', ARGV[1])
      if tailed then
        local done = redis.pcall('XADD', tail, 'MAXLEN', ARGV[3], entry, unpack(fields))
        if type(done) == 'table' and done.err then
          redis.call('DEL', tail)
          redis.call('XADD', tail, entry, unpack(fields))
        end
        tails[tail] = true
      end
      if opener then
        redis.call('SET', owner, opener, 'NX', 'PX', ARGV[2])
      end
    end
    out[#out + 1] = entry
  end
  key = key + 1 + (tailed and 1 or 0) + (opener and 1 or 0)
end
for tail in pairs(tails) do
  redis.call('PEXPIRE', tail, ARGV[2])
end
return table.concat(out, ' ')
"""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

# Events in one run of the script; more would hold up the server's other clients.
RUN = 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """An event that is ready for the script: flat fields (`id` among them) and their digest."""

    id: str
    fields: dict[str, str]
    digest: str


Command: TypeAlias = list[str | int]


@dataclass(frozen=True, slots=True)
class PublishScript:
    """Writes the script's commands and reads its replies. Times are seconds."""

    keys: Keys
    tail_ttl: float
    tail_max: int
    receipt_ttl: float

    def commands(self, events: Sequence[Prepared]) -> list[Command]:
        """EVAL commands for one pipeline that takes all of `events`, in order."""
        return [self._command(events[i : i + RUN], events[i - 1] if i else None) for i in range(0, len(events), RUN)]

    def entry_ids(self, replies: Sequence[Any]) -> tuple[list[str], Exception | None]:
        """Stream entry ids of the events that were accepted, and the error that stopped the rest, if any."""
        ids: list[str] = []
        for reply in replies:
            if isinstance(reply, Exception):
                return ids, reply
            ids += (reply.decode() if isinstance(reply, bytes) else reply).split()
        return ids, None

    def _command(self, events: Sequence[Prepared], before: Prepared | None) -> Command:
        # The text is sent, not its hash: a server that forgot its scripts then needs no second try.
        stream = self.keys.events
        names = [stream, stream if before is None else self._receipt(before)]
        body = []
        for event in events:
            fields = event.fields
            tailed = fields["type"] == "message"
            names.append(self._receipt(event))
            opener = _opener(fields)
            session = fields.get("namespace", "default"), fields["session_id"]
            if tailed:
                names.append(self.keys.tail(*session))
            if opener:
                names.append(self.keys.owner(*session))
            flat: list[str] = []
            for pair in fields.items():
                flat += pair
            body.append((event.digest, tailed, flat, opener))
        args = (_ms(self.receipt_ttl), _ms(self.tail_ttl), self.tail_max, _encode(body))
        return ["EVAL", LUA, len(names), *names, *args]

    def _receipt(self, event: Prepared) -> str:
        return self.keys.receipt(event.fields.get("namespace", "default"), event.id)


def _opener(fields: dict[str, str]) -> str | Literal[False]:
    """Whose a session becomes that this event begins; false for those that begin none."""
    if fields["type"] in ("subagent.message", "subagent.finished"):
        return False
    shared = fields["type"] == "session.started" and fields.get("shared") == "true"
    return f"{'shared' if shared else 'own'} {fields.get('user_id', 'default')}"


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))
