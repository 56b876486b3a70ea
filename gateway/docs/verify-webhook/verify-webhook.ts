import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 5 * 60;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The event of a delivery. Throws when we did not sign it with this secret, or not within the last five minutes.
 * @param body the bytes of the request's body as they arrived, before anything parses them.
 * @param headers the request's headers, with names in lower case as Node.js has them.
 * @param secret the subscription's signing secret, beginning with whsec_.
 */
export function verifyWebhook(body: Uint8Array, headers: Headers, secret: string): unknown {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    throw new Error('a webhook header is missing');
  }
  const age = Date.now() / 1000 - Number(timestamp);
  if (!/^[0-9]+$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) {
    throw new Error('the timestamp is not of the last five minutes');
  }
  const expected = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is being rotated there are two signatures; one that matches is enough.
  const matches = signatures.split(' ').some((signature) => {
    const [version, encoded = ''] = signature.split(',');
    const given = Buffer.from(encoded, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!matches) throw new Error('no signature matches');
  return JSON.parse(Buffer.from(body).toString());
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // An empty key would verify what anybody can sign.
  if (!secret.startsWith('whsec_') || key.length === 0)
    throw new Error('a signing secret begins with whsec_');
  return key;
}
