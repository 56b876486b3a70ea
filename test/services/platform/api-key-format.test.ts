import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apiKeyHint, environmentOfApiKey, newApiKey } from '../../../services/platform/api-key-format.ts';

const apiKey = fc.noShrink(
  fc.constantFrom('live', 'test').map((environment) => ({ environment, key: newApiKey(environment) })),
);
const character = fc.constantFrom(
  ...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ é'.split(''),
);

test('a new key says its environment, and no two are alike', () => {
  const keys = Array.from({ length: 1_000 }, () => newApiKey('live'));
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    expect(key).toMatch(/^mpk_live_[0-9A-Za-z]{38}$/);
    expect(environmentOfApiKey(key)).toBe('live');
  }
  expect(environmentOfApiKey(newApiKey('test'))).toBe('test');
});

test('a key with any one character changed is no key', () => {
  fc.assert(
    fc.property(apiKey, fc.nat({ max: 46 }), character, ({ environment, key }, at, other) => {
      const changed = key.slice(0, at) + other + key.slice(at + 1);
      expect(environmentOfApiKey(changed)).toBe(changed === key ? environment : undefined);
    }),
  );
});

test('a key with two neighbours swapped, a character lost or one added is no key', () => {
  fc.assert(
    fc.property(apiKey, fc.integer({ min: 9, max: 45 }), character, ({ key }, at, other) => {
      const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
      if (swapped !== key) expect(environmentOfApiKey(swapped)).toBeUndefined();
      expect(environmentOfApiKey(key.slice(0, at) + key.slice(at + 1))).toBeUndefined();
      expect(environmentOfApiKey(key.slice(0, at) + other + key.slice(at))).toBeUndefined();
    }),
  );
});

test('a key of one environment does not pass for one of the other', () => {
  expect(environmentOfApiKey(newApiKey('live').replace('live', 'test'))).toBeUndefined();
});

test('no text that is no key makes the check fail', () => {
  fc.assert(fc.property(fc.string(), (text) => environmentOfApiKey(text) === undefined));
});

test('a hint shows the prefix and four characters', () => {
  const key = newApiKey('test');
  expect(apiKeyHint(key)).toBe(key.slice(0, 13));
});
