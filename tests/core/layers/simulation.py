"""Many flows at once on a clock that nobody waits for."""

from __future__ import annotations
import heapq
import itertools
from contextvars import copy_context

from websearch_core.errors import WebSearchError
from websearch_core.flow import Call, Gather, Request, Share, SharedAnswer, Sleep
from websearch_core.testing import reply


class Simulation:
    """Runs flows side by side, each in a context of its own, as threads and tasks
    have. A pause or a request takes its time on the clock, and none in reality.

    Args:
        seconds: How long a request takes.
        answer: Makes the response to a request.

    """

    def __init__(self, seconds=0.0, answer=lambda _: reply()):
        self.now, self.seconds, self.answer = 1000.0, seconds, answer
        self.sent, self.results, self.at_once, self.most_at_once = [], {}, 0, 0
        self._events, self._order, self._contexts, self._then = (
            [],
            itertools.count(),
            {},
            {},
        )

    def monotonic(self):
        return self.now

    def start(self, name, flow, after=0.0):
        self._later(after, lambda: self._step(name, flow, None))

    def cancel(self, flow, after):
        self._later(after, lambda: self._apart(flow, flow.close))

    def run(self):
        while self._events:
            self.now, _, happen = heapq.heappop(self._events)
            happen()
        return self

    def _later(self, seconds, happen):
        heapq.heappush(self._events, (self.now + seconds, next(self._order), happen))

    def _apart(self, flow, *call):
        if flow not in self._contexts:
            self._contexts[flow] = copy_context()
        return self._contexts[flow].run(*call)

    def _step(self, name, flow, value):
        try:
            go_on = flow.throw if isinstance(value, Exception) else flow.send
            effect = self._apart(flow, go_on, value)
        except StopIteration as stop:
            self._finish(name, stop.value)
        except Exception as error:
            self._finish(name, error)
        else:
            self._perform(name, flow, effect)

    def _perform(self, name, flow, effect):
        match effect:
            case Sleep(seconds):
                self._later(seconds, lambda: self._alive(name, flow, None))
            case Request() | Call():
                self.sent.append((round(self.now - 1000, 3), name))
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                self._later(self.seconds, lambda: self._end(name, flow, effect))

            case Gather(flows, limit):
                waiting, answers = list(enumerate(flows)), {}

                def begin(ended=None, answer=None):
                    if ended is not None:
                        answers[ended] = answer
                    if waiting:
                        number, one = waiting.pop(0)
                        self._start_inside(
                            flow, one, lambda answer: begin(number, answer)
                        )
                    elif len(answers) == len(flows):
                        self._alive(
                            name,
                            flow,
                            [answers[number] for number in range(len(flows))],
                        )

                for _ in range(min(limit, len(flows))):
                    begin()
            case Share(_, _, make):

                def land(answer):
                    is_error = isinstance(answer, WebSearchError)
                    self._alive(
                        name,
                        flow,
                        answer if is_error else SharedAnswer(answer, is_first=True),
                    )

                self._start_inside(flow, self._apart(flow, make), land)

    def _start_inside(self, outer, flow, then):
        """Run a flow for another one, with a copy of its context."""
        self._contexts[flow] = self._contexts[outer].run(copy_context)
        self._then[flow] = then
        self._later(0, lambda: self._step(flow, flow, None))

    def _finish(self, name, result):
        self._then.pop(name, lambda result: self.results.__setitem__(name, result))(
            result
        )

    def _end(self, name, flow, effect):
        self.at_once -= 1
        self._alive(name, flow, self.answer(effect))

    def _alive(self, name, flow, value):
        if flow.gi_frame is not None:  # nobody has cancelled it
            self._step(name, flow, value)
