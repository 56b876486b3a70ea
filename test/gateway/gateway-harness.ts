import { randomUUID } from 'node:crypto';
import { type ConnectRouter, createClient, createRouterTransport, type Transport } from '@connectrpc/connect';
import { createGateway } from '../../gateway/app.ts';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { newKey, startHarness, type TestHarness } from '../support/harness.ts';
import { listenOnFreePort } from './listen.ts';

export const ALL_SCOPES: readonly ApiKeyScope[] = [
  ApiKeyScope.REFUNDS_READ,
  ApiKeyScope.CATALOG_READ,
  ApiKeyScope.FUNDS_READ,
  ApiKeyScope.ADVANCES_READ,
  ApiKeyScope.WEBHOOKS_MANAGE,
];

/** Both listeners of the public API in front of real services. */
export interface GatewayHarness {
  readonly harness: TestHarness;
  /** Port of each environment's listener. */
  readonly ports: Readonly<Record<'live' | 'test', number>>;
  /** Issues a key over RPC. */
  issueKey(
    merchantId: string,
    environment: Environment,
    scopes?: readonly ApiKeyScope[],
  ): Promise<{ key: string; apiKeyId: string }>;
  close(): Promise<void>;
}

/**
 * Starts services and both listeners. Services named in `standIns` are answered by them instead; `onStatement` sees
 * the SQL of the others.
 */
export async function startGateways(
  overrides: Record<string, string> = {},
  standIns?: (router: ConnectRouter) => void,
  onStatement?: (sql: string) => void,
): Promise<GatewayHarness> {
  const harness = await startHarness(overrides, onStatement);
  const real = harness.services.transportFor(GATEWAY_CALLER);
  const transport = standIns ? withStandIns(real, standIns) : real;
  const logger = createLogger(harness.config.LOG_LEVEL);
  const start = async (environment: 'live' | 'test') => {
    const app = createGateway({ environment, config: harness.config, transport, logger });
    return { app, port: await listenOnFreePort(app) };
  };
  const [live, sandbox] = [await start('live'), await start('test')];
  const apiKeys = createClient(ApiKeyService, harness.transports.inProcess);
  return {
    harness,
    ports: { live: live.port, test: sandbox.port },
    async issueKey(merchantId, environment, scopes = ALL_SCOPES) {
      const { key, apiKey } = await apiKeys.issueApiKey({
        merchantId,
        environment,
        idempotencyKey: newKey(),
        name: 'test',
        scopes: [...scopes],
      });
      return { key, apiKeyId: apiKey!.id };
    },
    async close() {
      await Promise.all([live.app.close(), sandbox.app.close()]);
      await harness.close();
    },
  };
}

/** A merchant with a key for each environment. */
export async function newMerchant(gateways: GatewayHarness) {
  const merchantId = randomUUID();
  const [live, test] = await Promise.all([
    gateways.issueKey(merchantId, Environment.LIVE),
    gateways.issueKey(merchantId, Environment.TEST),
  ]);
  return { merchantId, keys: { live: live.key, test: test.key } };
}

/** A public address as a literal, so that no test asks DNS. */
export const newWebhookUrl = () => `https://93.184.215.14/${randomUUID()}`;

function withStandIns(real: Transport, standIns: (router: ConnectRouter) => void): Transport {
  const named = new Set<string>();
  const recorder = { service: (service: { typeName: string }) => named.add(service.typeName) };
  standIns(recorder as unknown as ConnectRouter);
  const fake = createRouterTransport(standIns);
  return {
    unary: (method, ...rest) => (named.has(method.parent.typeName) ? fake : real).unary(method, ...rest),
    stream: (method, ...rest) => real.stream(method, ...rest),
  };
}
