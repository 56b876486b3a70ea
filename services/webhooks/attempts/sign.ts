import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

export interface SignedContent {
  /** The event's id, sent as `webhook-id`. */
  readonly id: string;
  /** Unix time in seconds, sent as `webhook-timestamp`. */
  readonly timestamp: number;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/**
 * The `webhook-signature` header of Standard Webhooks v1: one signature per secret, separated by spaces, so that during a
 * rotation the receiver can verify with either secret.
 * @param secrets `whsec_` and base64, at least one.
 * @throws TypeError for a malformed secret; the message does not contain it.
 */
export function signWebhook({ id, timestamp, body }: SignedContent, secrets: readonly string[]): string {
  if (secrets.length === 0) throw new TypeError('a webhook needs at least one signing secret');
  return secrets
    .map((secret) => {
      const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
      return `v1,${mac.digest('base64')}`;
    })
    .join(' ');
}

/** Recently used keys: creating a KeyObject costs four times as much as a signature. */
const keys = new Map<string, KeyObject>();
const MAX_KEYS = 1_000;

function keyOf(secret: string): KeyObject {
  let key = keys.get(secret);
  if (!key) {
    key = createSecretKey(bytesOf(secret));
    if (keys.size === MAX_KEYS) keys.clear();
    keys.set(secret, key);
  }
  return key;
}

function bytesOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  if (!secret.startsWith(SECRET_PREFIX) || key.length === 0) {
    throw new TypeError(`a signing secret is ${SECRET_PREFIX} and base64`);
  }
  return key;
}
