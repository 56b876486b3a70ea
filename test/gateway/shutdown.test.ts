import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createRouterTransport } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { WebhookListenerService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { unauthenticated } from '../../services/platform/errors.ts';
import { toConnectError } from '../../services/platform/rpc/connect-errors.ts';
import { call, expectProblem } from './http-call.ts';
import { startListener } from './listen.ts';

const ANSWER_MS = 300;
const CLIENTS = 2;

it('a stream that has not begun when its gateway closes is refused', async () => {
  let isOpen = false;
  const transport = createRouterTransport(({ service }) => {
    service(ApiKeyService, {
      authenticateApiKey: () => ({
        merchantId: randomUUID(),
        apiKeyId: randomUUID(),
        scopes: [ApiKeyScope.WEBHOOKS_MANAGE],
      }),
    });
    service(WebhookListenerService, {
      async *followEvents(_request, { signal }) {
        isOpen = true;
        await once(signal, 'abort');
        yield* [];
      },
    });
  });
  const { app, port } = await startListener({ environment: 'test', transport });
  const asked = call(port, '/cli/v1/events', { key: newApiKey('test') });
  await expect.poll(() => isOpen).toBe(true);
  await app.close();
  expectProblem(await asked, 'SERVICE_UNAVAILABLE');
});

it('a closing listener answers requests in progress, and does not wait for silent connections', async () => {
  let arrived = 0;
  const transport = createRouterTransport(({ service }) => {
    service(ApiKeyService, {
      authenticateApiKey: async () => {
        arrived += 1;
        await delay(ANSWER_MS);
        throw toConnectError(unauthenticated('API_KEY_INVALID', 'the API key is invalid'));
      },
    });
  });
  const { app, port } = await startListener({ transport });
  let answered = 0;
  app.server.on('request', (_request, response) => response.once('finish', () => (answered += 1)));
  // Most likely not on the socket that Fastify closes.
  const silent = Array.from({ length: CLIENTS }, () => connect(port));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  const asked = silent.map(() => call(port, '/v1/refund-cases', { key: newApiKey('live') }));
  await expect.poll(() => arrived).toBe(CLIENTS);

  const from = performance.now();
  const closed = silent.map((socket) => once(socket, 'close'));
  await app.close();
  expect(answered).toBe(CLIENTS);
  const [answers] = await Promise.all([Promise.all(asked), ...closed]);
  for (const answer of answers) expectProblem(answer, 'API_KEY_INVALID', 'not valid');
  expect(performance.now() - from).toBeLessThan(5_000);
});
