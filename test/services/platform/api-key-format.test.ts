import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apiKeyHint, environmentOfApiKey, newApiKey } from '../../../services/platform/api-key-format.ts';

const apiKey = fc.noShrink(
  fc.constantFrom('live', 'test').map((environment) => ({ environment, key: newApiKey(environment) })),
);
const character = fc.constantFrom(
  ...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ é'.split(''),
);

test('a new key contains its environment, and all keys are different', () => {
  const keys = Array.from({ length: 1_000 }, () => newApiKey('live'));
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(environmentOfApiKey(key)).toBe('live');
  expect(environmentOfApiKey(newApiKey('test'))).toBe('test');
});

test('a key is found in any text by the regular expression of the docs, exactly', async () => {
  const docs = new URL('../../../gateway/docs/authentication.md', import.meta.url);
  const published = /```text\n(.*mpk_.*)\n```/.exec(await readFile(docs, 'utf8'))?.[1];
  const keys = Array.from({ length: 1_000 }, (_, n) => newApiKey(n % 2 === 0 ? 'live' : 'test'));
  const leak = keys.map((key) => `x = "${key}"; // mpk_live_short, ${key}z`).join('\n');
  expect(leak.match(new RegExp(published!, 'g'))).toEqual(keys);
});

test('a key has at least 160 random bits: each character of the secret is one of 62', () => {
  const seen = Array.from({ length: 32 }, () => new Set<string>());
  for (let n = 0; n < 2_000; n += 1) {
    const secret = newApiKey('live').slice('mpk_live_'.length, -6);
    expect(secret).toHaveLength(seen.length);
    for (const [at, character] of [...secret].entries()) seen[at]!.add(character);
  }
  for (const characters of seen) expect(characters.size).toBe(62);
  expect(seen.length * Math.log2(62)).toBeGreaterThan(160);
});

test('a key with any one character changed is invalid', () => {
  const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (const environment of ['live', 'test'] as const) {
    const key = newApiKey(environment);
    for (let at = 0; at < key.length; at += 1) {
      for (const other of `${base62}_ é`) {
        const changed = key.slice(0, at) + other + key.slice(at + 1);
        if (changed !== key) expect(environmentOfApiKey(changed), changed).toBeUndefined();
      }
    }
  }
});

test('a key with two adjacent characters swapped, a character missing or one added is invalid', () => {
  fc.assert(
    fc.property(apiKey, fc.integer({ min: 9, max: 45 }), character, ({ key }, at, other) => {
      const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
      if (swapped !== key) expect(environmentOfApiKey(swapped)).toBeUndefined();
      expect(environmentOfApiKey(key.slice(0, at) + key.slice(at + 1))).toBeUndefined();
      expect(environmentOfApiKey(key.slice(0, at) + other + key.slice(at))).toBeUndefined();
    }),
  );
});

test('a key of one environment is not valid for the other', () => {
  expect(environmentOfApiKey(newApiKey('live').replace('live', 'test'))).toBeUndefined();
});

test('the check accepts any text without throwing', () => {
  fc.assert(fc.property(fc.string(), (text) => environmentOfApiKey(text) === undefined));
});

test('a hint shows the prefix and four characters', () => {
  const key = newApiKey('test');
  expect(apiKeyHint(key)).toBe(key.slice(0, 13));
});
