import { createHmac, type KeyObject } from 'node:crypto';
import type { KeyRing } from '../platform/key-ring.ts';

/** What is stored of a key: its HMAC-SHA256 under the current pepper, and that pepper's version. */
export function storedHash(key: string, peppers: KeyRing): { keyHash: Buffer; pepperVersion: number } {
  const { id, secret } = peppers.current;
  return { keyHash: hash(key, secret), pepperVersion: id };
}

/** The hashes under which a key may be stored: one per pepper. */
export function candidateHashes(key: string, peppers: KeyRing): Buffer[] {
  return peppers.secrets.map((pepper) => hash(key, pepper));
}

const hash = (key: string, pepper: KeyObject) => createHmac('sha256', pepper).update(key).digest();
