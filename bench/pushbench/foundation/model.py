"""The base of every document that Pushbench reads or writes: strict about keys, immutable once made."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """Unknown keys are errors: a typo in a YAML file or a newer field must never be silently ignored. So are infinities
    and NaN: JSON does not have them, and no measurement finds them."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True, allow_inf_nan=False
    )
