"""Requests that come while earlier ones are under way are carried out in one go."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from serendip.core.errors import SerendipError

Q = TypeVar("Q")
A = TypeVar("A")


class Together(Generic[Q, A]):
    """A desk with one clerk, who takes everything off the pile at once.

    While the clerk is away new requests pile up; nobody waits for more than the round under way
    and the next one. A caller that leaves does not stop the round.
    """

    def __init__(
        self,
        carry_out: Callable[[Sequence[Q]], Awaitable[Sequence[A | SerendipError]]],
        most: int = 64,
    ) -> None:
        """Begins with an empty pile.

        Args:
            carry_out: What is done with some requests; one answer, or one refusal, for each.
            most: How many are taken at once.
        """
        self._carry_out = carry_out
        self._most = most
        self._pile: list[tuple[Q, asyncio.Future[A]]] = []
        self._round: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether a round is under way."""
        return self._round is not None

    async def __call__(self, request: Q) -> A:
        """The answer to a request."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._pile.append((request, answer))
        if self._round is None:
            self._round = asyncio.create_task(self._work())
        return await answer

    async def _work(self) -> None:
        try:
            while self._pile:
                now, self._pile = self._pile[: self._most], self._pile[self._most :]
                try:
                    answers = await self._carry_out([request for request, _ in now])
                except BaseException as problem:
                    for _, waiting in now:
                        if not waiting.done():
                            waiting.set_exception(problem)
                    if not isinstance(problem, Exception):
                        raise
                    continue
                for (_, waiting), answer in zip(now, answers, strict=True):
                    if waiting.done():
                        continue
                    if isinstance(answer, SerendipError):
                        waiting.set_exception(answer)
                    else:
                        waiting.set_result(answer)
        finally:
            self._round = None
