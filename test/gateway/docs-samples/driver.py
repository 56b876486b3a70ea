import base64
import sys

from verify_webhook import verify_webhook

NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")

for line in sys.stdin:
    secret, *values, body = line.rstrip("\n").split("\t")
    headers = {name: value for name, value in zip(NAMES, values) if value}
    try:
        verify_webhook(base64.b64decode(body), headers, secret)
        print("verified")
    except ValueError:
        print("refused")
