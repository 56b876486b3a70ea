import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import { apiKeyHint, newApiKey } from '../../services/platform/api-key-format.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { testConfig } from '../support/harness.ts';
import { call } from './http-call.ts';
import { listenOnFreePort } from './listen.ts';

test('the log contains no API key, wherever a request contains it', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const transport = remoteTransport('http://127.0.0.1:1', 'mps_token');
  const app = createGateway({ environment: 'live', config: testConfig(), transport, logger });
  onTestFinished(() => app.close());
  const port = await listenOnFreePort(app);
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
