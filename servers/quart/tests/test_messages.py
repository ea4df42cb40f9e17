import json
import unittest
from typing import Any

from app.messages import BadMessage, parse_message

JOIN: dict[str, Any] = {"type": "join", "boardId": "b-17", "userId": "u-42"}
DRAW = JOIN | {"type": "draw", "seq": 0, "sentAt": 1764000000123456, "stroke": [[1, 2.5]]}

GOOD = {
    "a join": JOIN,
    "a draw": DRAW,
    "a leave": JOIN | {"type": "leave"},
    "unknown fields": DRAW | {"colour": "red"},
    "a boardId of 64 characters outside the BMP": JOIN | {"boardId": "\U0001f600" * 64},
}

BAD = {
    "no object": [JOIN],
    "null": None,
    "no type": {"boardId": "b-17", "userId": "u-42"},
    "an unknown type": JOIN | {"type": "erase"},
    "an empty boardId": JOIN | {"boardId": ""},
    "a userId of 65 characters": JOIN | {"userId": "u" * 65},
    "a userId that is a number": JOIN | {"userId": 42},
    "a negative seq": DRAW | {"seq": -1},
    "a seq with a fraction": DRAW | {"seq": 0.5},
    "a seq that is a boolean": DRAW | {"seq": True},
    "a sentAt that is a string": DRAW | {"sentAt": "1"},
    "no stroke": JOIN | {"type": "draw", "seq": 0, "sentAt": 0},
    "an empty stroke": DRAW | {"stroke": []},
    "a point of three numbers": DRAW | {"stroke": [[1, 2, 3]]},
    "a point with a string": DRAW | {"stroke": [[1, "2"]]},
    "a point with a boolean": DRAW | {"stroke": [[1, True]]},
}


class ParseMessage(unittest.TestCase):
    def test_good_messages_are_accepted(self) -> None:
        for name, message in GOOD.items():
            with self.subTest(name):
                self.assertEqual(parse_message(json.dumps(message)).board_id, message["boardId"])

    def test_bad_messages_are_refused(self) -> None:
        for name, message in BAD.items():
            with self.subTest(name), self.assertRaises(BadMessage):
                parse_message(json.dumps(message))

    def test_what_is_not_json_is_refused(self) -> None:
        texts = {
            "cut short": "{",
            "NaN in an unknown field": json.dumps(JOIN | {"colour": float("nan")}),
            "a coordinate beyond all numbers": json.dumps(DRAW).replace("2.5", "1e999"),
        }
        for name, text in texts.items():
            with self.subTest(name), self.assertRaises(BadMessage):
                parse_message(text)
