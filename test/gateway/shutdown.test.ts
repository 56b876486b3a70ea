import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createRouterTransport } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { unauthenticated } from '../../services/platform/errors.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { toConnectError } from '../../services/platform/rpc/connect-errors.ts';
import { testConfig } from '../support/harness.ts';
import { call, expectProblem } from './http-call.ts';
import { listenOnFreePort } from './listen.ts';

const ANSWER_MS = 300;

it('a closing listener answers requests in progress, and does not wait for silent connections', async () => {
  const transport = createRouterTransport(({ service }) => {
    service(ApiKeyService, {
      authenticateApiKey: async () => {
        await delay(ANSWER_MS);
        throw toConnectError(unauthenticated('API_KEY_INVALID', 'the API key is invalid'));
      },
    });
  });
  const logger = createLogger('silent');
  const app = createGateway({ environment: 'live', config: testConfig(), transport, logger });
  const port = await listenOnFreePort(app);
  const silent = connect(port);
  await once(silent, 'connect');
  const asked = call(port, '/v1/refund-cases', { key: newApiKey('live') });
  await delay(ANSWER_MS / 3);

  const from = performance.now();
  const [answer] = await Promise.all([asked, app.close(), once(silent, 'close')]);
  expectProblem(answer, 'API_KEY_INVALID', 'not valid');
  expect(performance.now() - from).toBeLessThan(5_000);
});
