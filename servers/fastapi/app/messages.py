"""The messages of a client. They do not depend on boards or connections."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

Id = Annotated[str, Field(min_length=1, max_length=64)]
Count = Annotated[int, Field(ge=0)]
Point = Annotated[list[float], Field(min_length=2, max_length=2)]
Stroke = Annotated[list[Point], Field(min_length=1), FailFast()]


class BoardMessage(BaseModel):
    """Fields beyond the known ones are allowed."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, alias_generator=to_camel)

    board_id: Id
    user_id: Id


class Join(BoardMessage):
    type: Literal["join"]


class Draw(BoardMessage):
    type: Literal["draw"]
    seq: Count
    sent_at: Count
    stroke: Stroke


class Leave(BoardMessage):
    type: Literal["leave"]


Message = Join | Draw | Leave

MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


class BadMessage(Exception):
    """Its text is the reason that is sent to the client."""


def parse_message(text: str) -> Message:
    try:
        # Not `validate_json`: it accepts NaN, which is not JSON, in unknown fields.
        return MESSAGE.validate_python(from_json(text, allow_inf_nan=False))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise BadMessage(": ".join([*map(str, first["loc"]), first["msg"]])) from None
    except ValueError as error:
        raise BadMessage(f"a message must be JSON: {error}") from None
