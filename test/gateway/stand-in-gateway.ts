import { randomUUID } from 'node:crypto';
import { Code, ConnectError, createRouterTransport, type Transport } from '@connectrpc/connect';
import { createGateway } from '../../gateway/app.ts';
import { type ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { listEventTypes } from '../../services/webhooks/events/list-event-types.ts';
import { testConfig } from '../support/harness.ts';
import { ALL_SCOPES } from './gateway-harness.ts';
import { listenOnFreePort } from './listen.ts';

/**
 * Stand-ins behind the gateway: every key is valid, the event catalog is real, and everything else fails as
 * configured.
 */
export interface StandIn {
  failure: ConnectError;
  scopes: readonly ApiKeyScope[];
}

/** The response to a request that the gateway accepts: the service that it calls is unavailable. */
export const UNAVAILABLE = new ConnectError('unavailable', Code.Unavailable);

/** A listener in front of it; every setting but `settings` as a test has it, and no limit in the way. */
export async function startStandInGateway(
  settings: Record<string, string> = {},
  environment: EnvironmentName = 'live',
) {
  const standIn: StandIn = { failure: UNAVAILABLE, scopes: ALL_SCOPES };
  const known = createRouterTransport(({ service }) => {
    service(EventService, { listEventTypes });
    service(ApiKeyService, {
      authenticateApiKey: () => {
        if (standIn.failure.code === Code.Unauthenticated) throw standIn.failure;
        return { apiKeyId: randomUUID(), merchantId: randomUUID(), scopes: [...standIn.scopes] };
      },
    });
  });
  const names = new Set<string>([EventService.typeName, ApiKeyService.typeName]);
  const transport: Transport = {
    unary: async (method, ...rest) => {
      if (names.has(method.parent.typeName)) return known.unary(method, ...rest);
      throw standIn.failure;
    },
    stream: known.stream,
  };
  const config = testConfig({ RATE_LIMIT_LIVE: '100000', RATE_LIMIT_ADDRESS: '100000', ...settings });
  const app = createGateway({ environment, config, transport, logger: createLogger('silent') });
  return { standIn, port: await listenOnFreePort(app), close: () => app.close() };
}
