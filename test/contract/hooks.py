"""What JSON Schema cannot say of this API, told to Schemathesis, so that positive cases are ones that must succeed.

Negative cases go out as they were generated.
"""

import os
import re
import uuid
from itertools import count
from urllib.parse import quote

import schemathesis

issued_cursors = {}
bodies_by_key = {}
product_reads = count()


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    use_issued_cursor(case)
    order_dates(case)
    use_public_url(case)
    use_key_once(case)
    read_existing_product(case)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 200 and "after" in query_names(case):
        cursor = response.json().get("nextCursor")
        if cursor:
            issued_cursors.setdefault(case.operation.label, {})[cursor] = filters_of(case)


@schemathesis.check
def error_code_is_documented(context, response, case):
    """Which codes an operation answers under a status stands beside the schema, which all errors share."""
    responses = case.operation.definition.raw["responses"]
    codes = responses.get(str(response.status_code), {}).get("x-error-codes")
    if codes is not None and response.json()["code"] not in codes:
        raise AssertionError(f"{response.json()['code']} is none of {', '.join(codes)}")


def use_issued_cursor(case):
    """A cursor is signed for a list and its filters: an invented one is refused rightly."""
    if "after" not in (case.query or {}):
        return
    issued = issued_cursors.get(case.operation.label, {})
    cursor = case.query["after"]
    if cursor not in issued:
        cursor = next(reversed(issued), None)
    limit = {"limit": case.query["limit"]} if "limit" in case.query else {}
    case.query = {**limit, **({"after": cursor, **issued[cursor]} if cursor else filters_of(case))}


def order_dates(case):
    """The bounds of a period depend on each other: one that ends before it starts is refused rightly."""
    query = case.query or {}
    if query.get("from", "") > query.get("to", "9999"):
        case.query = {**query, "from": query["to"], "to": query["from"]}


def use_public_url(case):
    """Whether a URL is public https is more than a schema says. Names below .example resolve to nothing."""
    if case.operation.method.upper() == "POST" and isinstance(case.body, dict) and "url" in case.body:
        path = quote(case.body["url"], safe="", errors="replace")
        case.body = {**case.body, "url": f"https://hooks.example/{path}"[:2048]}


def use_key_once(case):
    """An idempotency key names one body: with another one it is refused rightly. It may be quoted or bare."""
    header = (case.headers or {}).get("Idempotency-Key")
    if header is None:
        return
    key = re.sub(r'[\\"]', "", header.strip())
    if bodies_by_key.setdefault(key, repr(case.body)) != repr(case.body):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())


def read_existing_product(case):
    """No operation makes products, so every other id is that of one that exists."""
    if case.operation.definition.raw.get("operationId") == "getProduct" and next(product_reads) % 2 == 0:
        case.path_parameters = {"id": os.environ["CONTRACT_PRODUCT_ID"]}


def filters_of(case):
    return {name: value for name, value in (case.query or {}).items() if name not in ("after", "limit")}


def query_names(case):
    return {parameter.name for parameter in case.operation.query}
