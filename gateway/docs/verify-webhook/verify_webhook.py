import base64
import hashlib
import hmac
import json
import time
from typing import Any, Mapping

TOLERANCE_SECONDS = 5 * 60


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> Any:
    """Returns the event of a delivery.

    Raises ValueError if it was not signed with this secret within the last five minutes.

    body: the raw bytes of the request body, before anything parses them.
    headers: the request headers, in a case-insensitive mapping (as in http.server, Flask, Django and FastAPI).
    secret: the subscription's signing secret, starting with whsec_.
    """
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (webhook_id and timestamp and signatures):
        raise ValueError("a webhook header is missing")
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise ValueError("the timestamp is not a number")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is not within five minutes of the current time")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(_key_of(secret), signed, hashlib.sha256).digest())
    # During a rotation there are several signatures; one match is enough.
    for signature in signatures.split(" "):
        version, _, encoded = signature.partition(",")
        if version == "v1" and hmac.compare_digest(encoded.encode(), expected):
            return json.loads(body)
    raise ValueError("no signature matches")


def _key_of(secret: str) -> bytes:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    # Reject an empty key: anybody could sign with it.
    if not secret.startswith("whsec_") or not key:
        raise ValueError("a signing secret must start with whsec_")
    return key
