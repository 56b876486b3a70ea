import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 5 * 60;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the event of a delivery. Throws if it was not signed with this secret within the last five minutes.
 * @param body the raw bytes of the request body, before anything parses them.
 * @param headers the request headers, with names in lower case as in Node.js.
 * @param secret the subscription's signing secret, starting with whsec_.
 */
export function verifyWebhook(body: Uint8Array, headers: Headers, secret: string): unknown {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    throw new Error('a webhook header is missing');
  }
  const age = Date.now() / 1000 - Number(timestamp);
  if (!/^[0-9]+$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) {
    throw new Error('the timestamp is not within five minutes of the current time');
  }
  const expected = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
  // During a rotation there are several signatures; one match is enough.
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
  // Reject an empty key: anybody could sign with it.
  if (!secret.startsWith('whsec_') || key.length === 0)
    throw new Error('a signing secret must start with whsec_');
  return key;
}
