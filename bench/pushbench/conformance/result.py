"""What a verification found: one result per rule."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from pushbench.foundation.model import Document


class RuleResult(Document):
    """What one rule said of one server."""

    name: str
    statement: str
    outcome: Literal["passed", "failed"]
    detail: str = Field("", description="what was expected and what was seen; empty when the rule passed")
    log_tail: str = Field("", description="the last lines that the server had printed when the rule failed")
    seconds: NonNegativeFloat
    checks: PositiveInt = Field(
        1, description="how often it was checked: again after a failure while the hypervisor took much of the CPU"
    )

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


class Conformance(Document):
    """Whether a server may be benchmarked: only when every rule passed."""

    server: str
    suite: str
    protocol: str
    digest: str = Field(description="of the rules' sources; a result is worth nothing for other rules")
    rules: list[RuleResult]

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.rules)

    @property
    def failures(self) -> list[RuleResult]:
        return [result for result in self.rules if not result.passed]

    @property
    def disturbed(self) -> str:
        """`; checked again while the hypervisor took the CPU: nagle-is-off`; empty where no rule was."""
        again = ", ".join(result.name for result in self.rules if result.checks > 1)
        return f"; checked again while the hypervisor took the CPU: {again}" if again else ""
