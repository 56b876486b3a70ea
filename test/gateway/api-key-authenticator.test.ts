import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient, createRouterTransport } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiKeyAuthenticator } from '../../gateway/auth/api-key-authenticator.ts';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { unauthenticated } from '../../services/platform/errors.ts';
import { toConnectError } from '../../services/platform/rpc/connect-errors.ts';

const REVOKED = toConnectError(unauthenticated('API_KEY_INVALID', 'the API key is invalid'));

let nowMs = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

/** An authenticator whose lookups the test answers, in any order. */
function newAuthenticator() {
  const questions: PromiseWithResolvers<{ merchantId: string }>[] = [];
  const transport = createRouterTransport((router) => {
    router.rpc(ApiKeyService.method.authenticateApiKey, () => {
      const question = Promise.withResolvers<{ merchantId: string }>();
      questions.push(question);
      return question.promise;
    });
  });
  const asked = (count: number) => expect.poll(() => questions.length).toBe(count);
  const authenticator = new ApiKeyAuthenticator(createClient(ApiKeyService, transport), 'live');
  return { authenticator, questions, asked };
}

test('concurrent requests with the same key share one lookup', async () => {
  const { authenticator, questions, asked } = newAuthenticator();
  const key = newApiKey('live');
  const both = [authenticator.authenticate(key, '1'), authenticator.authenticate(key, '2')];
  await asked(1);
  questions[0]!.resolve({ merchantId: 'm' });
  for (const caller of await Promise.all(both)) expect(caller.tenant.merchantId).toBe('m');
  expect(questions).toHaveLength(1);
});

test('a lookup is valid for four seconds from its start, not from its completion', async () => {
  const { authenticator, questions, asked } = newAuthenticator();
  const key = newApiKey('live');
  const first = authenticator.authenticate(key, '1');
  await asked(1);
  nowMs += 3_000;
  questions[0]!.resolve({ merchantId: 'm' });
  await first;
  nowMs += 999;
  expect(authenticator.findCached(key)?.tenant.merchantId).toBe('m');
  nowMs += 1;
  expect(authenticator.findCached(key)).toBeUndefined();
  expect(authenticator.wasValid(key)).toBe(true);
});

test('a lookup is not valid beyond the expiry of its key', async () => {
  const transport = createRouterTransport((router) => {
    router.rpc(ApiKeyService.method.authenticateApiKey, () => ({ expiresAt: timestampFromMs(1_500) }));
  });
  const authenticator = new ApiKeyAuthenticator(createClient(ApiKeyService, transport), 'live');
  const key = newApiKey('live');
  vi.spyOn(Date, 'now').mockReturnValue(1_000);
  await authenticator.authenticate(key, '1');
  nowMs += 499;
  expect(authenticator.findCached(key)).toBeDefined();
  nowMs += 1;
  expect(authenticator.findCached(key)).toBeUndefined();
});

test('a request looks the key up again if an earlier lookup is not completed within its validity', async () => {
  const { authenticator, questions, asked } = newAuthenticator();
  const key = newApiKey('live');
  const slow = authenticator.authenticate(key, '1');
  await asked(1);
  nowMs += 4_000;
  // Revoked meanwhile.
  const later = authenticator.authenticate(key, '2');
  const refused = expect(later).rejects.toMatchObject({ code: 'API_KEY_INVALID' });
  await asked(2);
  questions[1]!.reject(REVOKED);
  await refused;
  questions[0]!.resolve({ merchantId: 'm' });
  await slow;
  expect(authenticator.findCached(key)).toBeUndefined();
});

test('only valid keys are cached, until they become invalid', async () => {
  const { authenticator, questions, asked } = newAuthenticator();
  const key = newApiKey('live');
  const good = authenticator.authenticate(key, '1');
  await asked(1);
  questions[0]!.resolve({ merchantId: 'm' });
  await good;
  nowMs += 4_000;
  const refused = expect(authenticator.authenticate(key, '2')).rejects.toMatchObject({
    code: 'API_KEY_INVALID',
  });
  await asked(2);
  questions[1]!.reject(REVOKED);
  await refused;
  expect(authenticator.wasValid(key)).toBe(false);
});

test('the cache evicts the least recently looked-up keys', async () => {
  const transport = createRouterTransport((router) => {
    router.rpc(ApiKeyService.method.authenticateApiKey, () => ({ merchantId: 'm' }));
  });
  const authenticator = new ApiKeyAuthenticator(createClient(ApiKeyService, transport), 'live', 3);
  const [a, b, c, d] = Array.from({ length: 4 }, () => newApiKey('live')) as [string, string, string, string];
  for (const key of [a, b, c, a]) await authenticator.authenticate(key, '1');
  expect([a, b, c].map((key) => authenticator.wasValid(key))).toEqual([true, true, true]);
  await authenticator.authenticate(d, '1');
  expect([a, b, c, d].map((key) => authenticator.wasValid(key))).toEqual([true, false, true, true]);
});
