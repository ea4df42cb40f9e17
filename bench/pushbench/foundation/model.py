"""The base of every document that Pushbench reads or writes: strict about keys, immutable once made."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pushbench.foundation.errors import UserError


class Document(BaseModel):
    """Unknown keys are errors: a typo in a YAML file or a newer field must never be silently ignored. So are infinities
    and NaN: JSON does not have them, and no measurement produces them."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True, allow_inf_nan=False
    )


D = TypeVar("D", bound=Document)


def read_document(path: Path, model: type[D], refused: str) -> D:
    """The document in a file. Raises UserError, which begins with `refused`, if the file has none."""
    try:
        return model.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UserError(f"{refused}: {departure(error)}", where=str(path)) from None


def departure(error: ValidationError) -> str:
    """Where a document first departs from its model, and how."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
