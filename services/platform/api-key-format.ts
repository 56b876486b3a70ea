import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { EnvironmentName } from './tenant.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 190 bits, of which 166 remain unknown after the hint is shown. */
const SECRET_LENGTH = 32;
/** 62 to the sixth is more than 2 to the 32nd, so six characters hold a CRC-32. */
const CHECKSUM_LENGTH = 6;
const HINT_LENGTH = 4;
const PREFIX_LENGTH = 'mpk_live_'.length;
const SHAPE = /^mpk_(live|test)_[0-9A-Za-z]{38}$/;
const KEYS_AND_HINTS = /(mpk_(?:live|test)_[0-9A-Za-z]{4})[0-9A-Za-z]{34}/g;

/** A new API key: the environment's prefix, 32 random characters in base62, and their checksum. */
export function newApiKey(environment: EnvironmentName): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const body = `mpk_${environment}_${secret}`;
  return body + checksum(body);
}

/**
 * The environment that a key claims; undefined when the text is not a key or is mistyped. A pure format check: it does
 * not mean that the key exists.
 */
export function environmentOfApiKey(key: string): EnvironmentName | undefined {
  const match = SHAPE.exec(key);
  if (!match || checksum(key.slice(0, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH)) return undefined;
  return match[1] as EnvironmentName;
}

/** The part of a key that may be shown to identify it: its prefix and first four random characters. */
export function apiKeyHint(key: string): string {
  return key.slice(0, PREFIX_LENGTH + HINT_LENGTH);
}

/** Truncates every API key in a text to its hint. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(KEYS_AND_HINTS, '$1…');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let n = 0; n < CHECKSUM_LENGTH; n += 1) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
