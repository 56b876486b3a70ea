import { createHmac, randomBytes } from 'node:crypto';
import { signedHeaders, signingKey } from '../../../services/webhooks/attempts/send-attempt.ts';

export interface Delivery {
  readonly what: string;
  readonly outcome: 'verified' | 'refused';
  readonly secret: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Buffer;
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [current, former, stranger] = [newSecret(), newSecret(), newSecret()];
const id = '0197c9f2-8f3a-7d10-9b1e-0d5f3f1c2a01';
const body = Buffer.from(`{"id": "${id}",\n "data": {"reason": "Produto não chegou 🎁"} }\n`);

/** The headers of a delivery; those that are empty are missing. */
export function headersOf(sent: Pick<Delivery, 'id' | 'timestamp' | 'signature'>): Record<string, string> {
  return {
    ...(sent.id && { 'webhook-id': sent.id }),
    ...(sent.timestamp && { 'webhook-timestamp': sent.timestamp }),
    ...(sent.signature && { 'webhook-signature': sent.signature }),
  };
}

/** The deliveries that every verifier must treat alike, signed now: verifiers compare timestamps with the clock. */
export function signDeliveries(): Delivery[] {
  const now = Math.floor(Date.now() / 1000);
  /** A delivery that we signed, modified afterwards. */
  function delivery(
    what: string,
    outcome: Delivery['outcome'],
    wrong: Partial<Delivery> & { signedBy?: readonly string[]; signedAt?: number } = {},
  ): Delivery {
    const { signedBy = [current], signedAt = now, ...changes } = wrong;
    const unsigned = {
      eventId: id,
      startedAt: new Date(signedAt * 1_000),
      body,
      keys: signedBy.map(signingKey),
    };
    const { 'webhook-signature': signature } = signedHeaders(unsigned);
    return { what, outcome, secret: current, id, timestamp: `${signedAt}`, signature, body, ...changes };
  }

  const good = delivery('', 'verified').signature;
  const signedWith = (key: Buffer, timestamp: string) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  const byEmptyKey = signedWith(Buffer.alloc(0), `${now}`);
  const currentKey = Buffer.from(current.slice('whsec_'.length), 'base64');

  return [
    delivery('as it was sent', 'verified'),
    delivery('four minutes old', 'verified', { signedAt: now - 240 }),
    delivery('signed with the new and the old secret, verified with the new', 'verified', {
      signedBy: [current, former],
    }),
    delivery('signed with the new and the old secret, verified with the old', 'verified', {
      signedBy: [current, former],
      secret: former,
    }),
    delivery('beside a signature of a later version', 'verified', { signature: `v2,AAAA ${good}` }),
    delivery('signed with the new and the old secret, verified with neither', 'refused', {
      signedBy: [current, former],
      secret: stranger,
    }),
    delivery('signed with another secret', 'refused', { signedBy: [stranger] }),
    delivery('with another body', 'refused', {
      body: Buffer.from(body.toString().replace('chegou', 'Chegou')),
    }),
    delivery('with the body written anew', 'refused', {
      body: Buffer.from(JSON.stringify(JSON.parse(body.toString()))),
    }),
    delivery('with another id', 'refused', { id: id.replace('0', '1') }),
    delivery('with a later timestamp than was signed', 'refused', { timestamp: `${now + 1}` }),
    delivery('six minutes old', 'refused', { signedAt: now - 360 }),
    delivery('six minutes ahead', 'refused', { signedAt: now + 360 }),
    delivery('with no number for a timestamp', 'refused', { timestamp: 'now' }),
    ...[`+${now}`, ` ${now}`, `${now}.0`].map((timestamp) =>
      delivery(`with "${timestamp}" for a timestamp, although signed`, 'refused', {
        timestamp,
        signature: signedWith(currentKey, timestamp),
      }),
    ),
    delivery('without an id', 'refused', { id: '' }),
    delivery('without a timestamp', 'refused', { timestamp: '' }),
    delivery('without a signature', 'refused', { signature: '' }),
    delivery('with an empty signature', 'refused', { signature: 'v1,' }),
    delivery('with the signature under another version', 'refused', {
      signature: good.replace('v1,', 'v2,'),
    }),
    delivery('with half a signature', 'refused', { signature: good.slice(0, 24) }),
    delivery('signed with nothing, for a receiver without a secret', 'refused', {
      secret: '',
      signature: byEmptyKey,
    }),
    delivery('signed with nothing, for a receiver with half a secret', 'refused', {
      secret: 'whsec_',
      signature: byEmptyKey,
    }),
  ];
}
