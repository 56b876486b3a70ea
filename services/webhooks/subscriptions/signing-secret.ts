import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { Tenant } from '../../platform/tenant.ts';

const CIPHER = 'aes-256-gcm';
const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A signing secret as stored: the id of the key that sealed it; nonce, ciphertext and tag. */
export interface SealedSecret {
  readonly keyId: number;
  readonly sealed: Uint8Array;
}

/** The owner of a secret, which is authenticated: a sealed secret opens only for its own subscription. */
export interface SecretOwner extends Tenant {
  readonly subscriptionId: string;
}

/** A new secret: `whsec_` and base64 of 32 random bytes. */
export const newSigningSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

export function sealSecret(keys: KeyRing, owner: SecretOwner, secret: string): SealedSecret {
  const { id, secret: key } = keys.current;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(owner));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return { keyId: id, sealed: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]) };
}

/** Decrypts a secret. Throws if its key is not configured, or if it was sealed for another owner or tampered with. */
export function openSecret(keys: KeyRing, owner: SecretOwner, { keyId, sealed }: SealedSecret): string {
  const key = keys.find(keyId);
  if (!key) throw new Error(`WEBHOOK_SECRET_KEYS lacks v${keyId}, which sealed a signing secret`);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
    .setAAD(boundTo(owner))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const ciphertext = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
}

const boundTo = ({ merchantId, environment, subscriptionId }: SecretOwner) =>
  Buffer.from(`${merchantId}\n${environment}\n${subscriptionId}`);
