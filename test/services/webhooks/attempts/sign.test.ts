import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signedHeaders, signingKey } from '../../../../services/webhooks/attempts/send-attempt.ts';

const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(secretOf);

describe('signing', () => {
  it('produces signatures that the public library verifies with exactly the secrets of a rotation', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(secret, { minLength: 3, maxLength: 3 }),
        fc.json(),
        fc.uuid(),
        (secrets, json, eventId) => {
          const [current, former, stranger] = secrets as [string, string, string];
          const keys = [current, former].map(signingKey);
          const headers = signedHeaders({ eventId, startedAt: new Date(), body: Buffer.from(json), keys });
          expect(new Webhook(current).verify(json, headers)).toEqual(JSON.parse(json));
          expect(new Webhook(former).verify(json, headers)).toEqual(JSON.parse(json));
          expect(() => new Webhook(stranger).verify(json, headers)).toThrow();
          expect(() => new Webhook(current).verify(`${json} `, headers)).toThrow();
        },
      ),
    );
  });

  it.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])('refuses the secret %j', (malformed) => {
    expect(() => signingKey(malformed)).toThrow(TypeError);
  });

  it('does not show a malformed secret', () => {
    expect(() => signingKey('sk_very_secret')).toThrow(expect.not.stringContaining('very_secret'));
  });
});
