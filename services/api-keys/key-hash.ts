import { createHmac, type KeyObject } from 'node:crypto';
import type { KeyRing } from '../platform/key-ring.ts';

/** How a key is stored: its HMAC-SHA256 under the pepper that writes, and that pepper's version. */
export function storedHash(key: string, peppers: KeyRing): { keyHash: Buffer; pepperVersion: number } {
  const { id, secret } = peppers.current;
  return { keyHash: hash(key, secret), pepperVersion: id };
}

/** The hashes under which a key may be stored: one for each pepper. */
export function possibleHashes(key: string, peppers: KeyRing): Buffer[] {
  return peppers.secrets.map((pepper) => hash(key, pepper));
}

const hash = (key: string, pepper: KeyObject) => createHmac('sha256', pepper).update(key).digest();
