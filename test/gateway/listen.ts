import { onTestFinished } from 'vitest';
import { createGateway, type GatewayOptions } from '../../gateway/app.ts';
import type { GatewayApp } from '../../gateway/gateway-app.ts';
import { LISTEN_OPTIONS } from '../../gateway/plugins/listening.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { testConfig } from '../support/harness.ts';

/** Makes a gateway listen on a free local port; returns the port. */
export async function listenOnFreePort(app: GatewayApp): Promise<number> {
  return Number(new URL(await app.listen({ ...LISTEN_OPTIONS, host: '127.0.0.1', port: 0 })).port);
}

/** A gateway that listens until the test ends: that of live, with a test's settings and no log, unless the options differ. */
export async function startListener(options: Pick<GatewayOptions, 'transport'> & Partial<GatewayOptions>) {
  const defaults = { environment: 'live', config: testConfig(), logger: createLogger('silent') } as const;
  const app = createGateway({ ...defaults, ...options });
  onTestFinished(() => app.close());
  return { app, port: await listenOnFreePort(app) };
}
