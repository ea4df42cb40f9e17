import unittest

from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException

from app.requests import StreamRequest, parse_request
from app.streams import TEXT

LAST_ID = len(TEXT) - 1

GOOD = {
    "nothing": ("", {}, StreamRequest()),
    "the least pace": ("pace=1", {}, StreamRequest(pace=1)),
    "the highest pace": ("pace=1000", {}, StreamRequest(pace=1000)),
    "another parameter": ("x=1", {}, StreamRequest()),
    "the first id": ("", {"Last-Event-ID": "0"}, StreamRequest(first=1)),
    "the last id": ("", {"Last-Event-ID": f"{LAST_ID}"}, StreamRequest(first=LAST_ID + 1)),
}

BAD_QUERIES = ["pace=", "pace", "pace=0", "pace=1001", "pace=1.5", "pace=%2B5", "pace=05", "pace=٣", "pace=1&pace=1"]
BAD_IDS = ["", "-1", f"{LAST_ID + 1}", "1.0", "a", "007", "9" * 5000]


class Requests(unittest.TestCase):
    def test_good_requests_are_accepted(self) -> None:
        for name, (query, headers, wanted) in GOOD.items():
            with self.subTest(name):
                self.assertEqual(parse_request(QueryParams(query), Headers(headers)), wanted)

    def test_what_is_no_integer_in_range_is_refused(self) -> None:
        requests = [(query, {}) for query in BAD_QUERIES] + [("", {"Last-Event-ID": id}) for id in BAD_IDS]
        for query, headers in requests:
            with self.subTest(query=query, headers=headers), self.assertRaises(HTTPException) as raised:
                parse_request(QueryParams(query), Headers(headers))
            self.assertEqual(raised.exception.status_code, 400)
