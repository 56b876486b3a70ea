import { createRouterTransport } from '@connectrpc/connect';
import { createGateway } from '../gateway/app.ts';
import { EventService } from '../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { listeningUrl } from '../services/platform/process/listening-url.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import type { EnvironmentName } from '../services/platform/tenant.ts';
import { listEventTypes } from '../services/webhooks/events/list-event-types.ts';

/** The OpenAPI document that the gateway serves, without a running system. */
export async function openApiDocument(environment: EnvironmentName): Promise<object> {
  const { LIVE_PORT, SANDBOX_PORT, ...config } = readConfig(process.env, { unused: KEY_RINGS });
  const local = (port: number) => listeningUrl(config.HOST, port);
  const gateway = createGateway({
    environment,
    config: {
      ...config,
      PUBLIC_URL_LIVE: config.PUBLIC_URL_LIVE ?? local(LIVE_PORT),
      PUBLIC_URL_SANDBOX: config.PUBLIC_URL_SANDBOX ?? local(SANDBOX_PORT),
    },
    transport: createRouterTransport(({ service }) => {
      service(EventService, { listEventTypes });
    }),
    logger: createLogger('fatal'),
  });
  const response = await gateway.inject('/openapi.json');
  await gateway.close();
  if (response.statusCode !== 200) throw new Error(response.body);
  return response.json();
}
