import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signWebhook } from '../../../../services/webhooks/attempts/send-attempt.ts';

const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(secretOf);

describe('signing', () => {
  it('produces signatures that the public library verifies with exactly the secrets of a rotation', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(secret, { minLength: 3, maxLength: 3 }),
        fc.json(),
        fc.uuid(),
        (secrets, json, id) => {
          const [current, former, stranger] = secrets as [string, string, string];
          const timestamp = Math.floor(Date.now() / 1000);
          const signature = signWebhook({ id, timestamp, body: Buffer.from(json) }, [current, former]);
          const headers = {
            'webhook-id': id,
            'webhook-timestamp': `${timestamp}`,
            'webhook-signature': signature,
          };
          expect(new Webhook(current).verify(json, headers)).toEqual(JSON.parse(json));
          expect(new Webhook(former).verify(json, headers)).toEqual(JSON.parse(json));
          expect(() => new Webhook(stranger).verify(json, headers)).toThrow();
          expect(() => new Webhook(current).verify(`${json} `, headers)).toThrow();
        },
      ),
    );
  });

  it.each([[[]], [['']], [['whsec_']], [['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']]])(
    'refuses the secrets %j',
    (secrets) => {
      const content = { id: 'event', timestamp: 1, body: Buffer.from('{}') };
      expect(() => signWebhook(content, secrets)).toThrow(TypeError);
    },
  );

  it('does not show a malformed secret', () => {
    const content = { id: 'event', timestamp: 1, body: Buffer.from('{}') };
    expect(() => signWebhook(content, ['sk_very_secret'])).toThrow(
      expect.not.stringContaining('very_secret'),
    );
  });
});
