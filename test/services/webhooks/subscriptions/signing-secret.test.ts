import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '../../../../services/platform/key-ring.ts';
import {
  newSigningSecret,
  openSecret,
  sealSecret,
} from '../../../../services/webhooks/subscriptions/signing-secret.ts';

const key = (id: number) => ({ id, secret: createSecretKey(randomBytes(32)) });
const owner = { merchantId: 'm', environment: 'live', subscriptionId: 's' } as const;

describe('a sealed signing secret', () => {
  it('opens with the key that sealed it, even after another became current', () => {
    const [old, current] = [key(1), key(2)];
    const secret = newSigningSecret();
    const sealed = sealSecret(new KeyRing([old]), owner, secret);
    expect(openSecret(new KeyRing([current, old]), owner, sealed)).toBe(secret);
    expect(sealSecret(new KeyRing([current, old]), owner, secret).keyId).toBe(2);
    expect(() => openSecret(new KeyRing([current]), owner, sealed)).toThrow('lacks v1');
  });

  it('opens for no other subscription, merchant or environment, and not if a bit was changed', () => {
    const keys = new KeyRing([key(1)]);
    const sealed = sealSecret(keys, owner, newSigningSecret());
    const others = [
      { ...owner, subscriptionId: 't' },
      { ...owner, merchantId: 'n' },
      { ...owner, environment: 'test' as const },
    ];
    for (const other of others) expect(() => openSecret(keys, other, sealed)).toThrow();
    for (const at of [0, 12, sealed.sealed.length - 1]) {
      const changed = Buffer.from(sealed.sealed);
      changed[at]! ^= 1;
      expect(() => openSecret(keys, owner, { ...sealed, sealed: changed })).toThrow();
    }
  });

  it('is different each time', () => {
    const keys = new KeyRing([key(1)]);
    const secret = newSigningSecret();
    expect(newSigningSecret()).not.toBe(secret);
    expect(sealSecret(keys, owner, secret).sealed).not.toEqual(sealSecret(keys, owner, secret).sealed);
  });
});
