import base64
import hashlib
import hmac
import json
import time
from typing import Any, Mapping

TOLERANCE_SECONDS = 5 * 60


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> Any:
    """The event of a delivery.

    Raises ValueError when we did not sign it with this secret, or not within the last five minutes.

    body: the bytes of the request's body as they arrived, before anything parses them.
    headers: the request's headers, in a mapping that ignores case (http.server, Flask, Django and FastAPI have one).
    secret: the subscription's signing secret, beginning with whsec_.
    """
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (webhook_id and timestamp and signatures):
        raise ValueError("a webhook header is missing")
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise ValueError("the timestamp is no number")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is not of the last five minutes")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(_key_of(secret), signed, hashlib.sha256).digest())
    # While a secret is being rotated there are two signatures; one that matches is enough.
    for signature in signatures.split(" "):
        version, _, encoded = signature.partition(",")
        if version == "v1" and hmac.compare_digest(encoded.encode(), expected):
            return json.loads(body)
    raise ValueError("no signature matches")


def _key_of(secret: str) -> bytes:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    # An empty key would verify what anybody can sign.
    if not secret.startswith("whsec_") or not key:
        raise ValueError("a signing secret begins with whsec_")
    return key
