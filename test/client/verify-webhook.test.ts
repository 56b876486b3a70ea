import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../../client/index.ts';
import { signedHeaders, signingKey } from '../../services/webhooks/attempts/send-attempt.ts';
import { headersOf, signDeliveries } from '../gateway/docs-samples/deliveries.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [current, former] = [newSecret(), newSecret()];
const event = { id: 'e1', type: 'refund.requested.v1', data: { reason: 'Não chegou' } };
const body = JSON.stringify(event);

function signed(secret = former, ageSeconds = 0) {
  const startedAt = new Date(Date.now() - ageSeconds * 1_000);
  return signedHeaders({ eventId: 'e1', startedAt, body: Buffer.from(body), keys: [signingKey(secret)] });
}

it.each(signDeliveries())('a delivery $what is $outcome, as in the samples', async (delivery) => {
  const verified = verifyWebhook(delivery.body, headersOf(delivery), delivery.secret);
  if (delivery.outcome === 'verified') expect(await verified).toEqual(JSON.parse(delivery.body.toString()));
  else
    await expect(verified).rejects.toThrow(delivery.secret.length > 6 ? WebhookVerificationError : TypeError);
});

it.each([
  ['the Fetch API', new Headers(signed())],
  ['Node.js', signed()],
  ['a proxy that capitalizes names and passes lists', capitalized(signed())],
])('reads the headers of %s, and any of several secrets', async (_of, headers) => {
  expect(await verifyWebhook(body, headers, [current, former])).toEqual(event);
  await expect(verifyWebhook(body, headers, [current])).rejects.toThrow('no signature matches');
  const twice = { ...signed(), 'webhook-id': ['e1', 'e2'] };
  await expect(verifyWebhook(body, twice, former)).rejects.toThrow('webhook-id is missing');
});

it('reads bodies of text and bytes, also from the middle of a buffer', async () => {
  const inTheMiddle = new Uint8Array(Buffer.from(`x${body}y`)).subarray(1, -1);
  const bytes = new Uint8Array(inTheMiddle);
  for (const given of [body, bytes, bytes.buffer, inTheMiddle]) {
    expect(await verifyWebhook(given, signed(), former)).toEqual(event);
  }
});

it('accepts a custom tolerance', async () => {
  const old = signed(former, 400);
  expect(await verifyWebhook(body, old, former, { toleranceSeconds: 500 })).toEqual(event);
  const young = verifyWebhook(body, signed(former, 60), former, { toleranceSeconds: 30 });
  await expect(young).rejects.toThrow('within 30 seconds');
});

describe('throws a TypeError for misuse', () => {
  it.each([
    ['a body that was parsed', event, current, 'raw text or bytes'],
    ['no secret', body, [], 'no signing secret'],
    ['a missing secret among others', body, [former, undefined], 'must start with whsec_'],
    ['a secret that was cut off', body, 'whsec_', 'must have base64 after whsec_'],
    ['a secret with a character that is not base64', body, `${current}!`, 'must have base64 after whsec_'],
  ])('%s', async (_what, given, secrets, message) => {
    const verified = verifyWebhook(given as string, signed(), secrets as string[]);
    await expect(verified).rejects.toThrow(TypeError);
    await expect(verified).rejects.toThrow(message);
  });
});

function capitalized(headers: Record<string, string>): Record<string, string[]> {
  const names = Object.entries(headers).map(([name, value]) => [
    name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    [value],
  ]);
  return Object.fromEntries(names);
}
