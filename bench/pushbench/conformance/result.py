"""The results of a verification: one per rule."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from pushbench.foundation.model import Document


class RuleResult(Document):
    """The result of one rule for one server."""

    name: str
    statement: str
    outcome: Literal["passed", "failed", "not-asked"]
    detail: str = Field(
        "", description="expected and observed behaviour, or why the rule was not asked; empty if it passed"
    )
    log_tail: str = Field("", description="last lines of the server's output when the rule failed")
    seconds: NonNegativeFloat
    checks: PositiveInt = Field(
        1,
        description="number of checks; a rule is checked again if it failed while the hypervisor took much of the CPU, "
        "or beside other servers",
    )

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    @property
    def failed(self) -> bool:
        return self.outcome == "failed"


class Conformance(Document):
    """Whether a server may be benchmarked: only if no rule failed."""

    server: str
    suite: str
    protocol: str
    digest: str = Field(description="digest of the rules' sources; the result is void for other rules")
    rules: list[RuleResult]

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> list[RuleResult]:
        return [result for result in self.rules if result.failed]

    @property
    def asked(self) -> list[RuleResult]:
        return [result for result in self.rules if result.outcome != "not-asked"]

    @property
    def kept(self) -> str:
        """`11 of 12`"""
        asked = self.asked
        return f"{sum(result.passed for result in asked)} of {len(asked)}"

    @property
    def unasked(self) -> str:
        """`, 2 not asked`; empty if all rules were asked"""
        others = len(self.rules) - len(self.asked)
        return f", {others} not asked" if others else ""

    @property
    def postponed(self) -> str:
        """The note about rules that failed in parallel with others, before they are checked again."""
        names = ", ".join(result.name for result in self.failures)
        return f"to be checked again without other servers beside it: {names}"

    @property
    def disturbed(self) -> str:
        """`; checked again, because others had the CPU: nagle-is-off`; empty if no rule was checked again."""
        again = ", ".join(result.name for result in self.rules if result.checks > 1)
        return f"; checked again, because others had the CPU: {again}" if again else ""
