import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRouterTransport } from '@connectrpc/connect';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { WebhookListenerService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { apiKeyHint, newApiKey } from '../../services/platform/api-key-format.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { testConfig } from '../support/harness.ts';
import { scrape } from '../support/scrape.ts';
import { call } from './http-call.ts';
import { startListener } from './listen.ts';

test('the log contains no API key, wherever a request contains it', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const transport = remoteTransport('http://127.0.0.1:1', 'mps_token');
  const { port } = await startListener({ transport, logger });
  const key = newApiKey('live');
  const paths = [
    '/v1/refund-cases',
    `/v1/products/${key}`,
    `/${key}/x/${key}`,
    `/v1/refund-cases?after=${key}`,
  ];
  for (const path of paths) await call(port, path, { key });
  await call(port, '/v1/webhook-subscriptions', {
    key,
    headers: { 'idempotency-key': key },
    body: { url: key },
  });
  const log = lines.join('');
  expect(log).not.toContain(key);
  expect(log).toContain(`"path":"/v1/products/${apiKeyHint(key)}…"`);
  expect(log.match(/"msg":"request"/g)).toHaveLength(paths.length + 1);
});

test('a request refused because of overload has one line in the log, and counts as failed', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const merchantId = randomUUID();
  const transport = createRouterTransport((router) => {
    const caller = { apiKeyId: randomUUID(), merchantId, scopes: [ApiKeyScope.REFUNDS_READ] };
    router.rpc(ApiKeyService.method.authenticateApiKey, () => caller);
  });
  const config = { ...testConfig(), API_MAX_CONCURRENT_REQUESTS: 0 };
  const { port } = await startListener({ config, transport, logger });
  lines.length = 0;
  const failures = async () => (await scrape())('payments_http_failures_total{environment="live"}')!;
  const before = await failures();
  await call(port, '/v1/refund-cases', { key: newApiKey('live') });
  expect(await failures()).toBe(before + 1);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      msg: 'request',
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      operation: 'listRefundCases',
      merchantId,
    }),
  ]);
});

test('a client that leaves before the first message of a stream is not logged as a failure', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const begun = Promise.withResolvers<void>();
  const transport = createRouterTransport((router) => {
    const caller = {
      apiKeyId: randomUUID(),
      merchantId: randomUUID(),
      scopes: [ApiKeyScope.WEBHOOKS_MANAGE],
    };
    router.rpc(ApiKeyService.method.authenticateApiKey, () => caller);
    router.rpc(WebhookListenerService.method.followEvents, async function* (_request, { signal }) {
      begun.resolve();
      await once(signal, 'abort');
      yield {};
    });
  });
  const { app, port } = await startListener({ environment: 'test', transport, logger });
  const left = new AbortController();
  const headers = { authorization: `Bearer ${newApiKey('test')}` };
  const answer = fetch(`http://127.0.0.1:${port}/cli/v1/events`, { signal: left.signal, headers });
  await begun.promise;
  left.abort();
  await expect(answer).rejects.toThrow();
  await app.close();
  expect(lines.filter((line) => JSON.parse(line).level > 30)).toEqual([]);
});
