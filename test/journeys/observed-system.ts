import type { Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { expect, vi } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';
import { createTestDatabase } from '../support/harness.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { type Program, startProgram } from '../support/program.ts';
import { newServiceToken } from '../support/secrets.ts';
import { createTestNamespace, testWorkflowBundles } from '../support/temporal-namespace.ts';

const STARTED = { timeout: 60_000 };

/** A line of the log. */
export interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Services, gateway and worker as separate processes, and their logs. */
export interface ObservedSystem {
  /** Calls the services as a team with every grant. */
  readonly transport: Transport;
  /** The port of the sandbox's public API. */
  readonly sandboxPort: number;
  /** The lines of all three, in the order of their times. */
  lines(): LogLine[];
}

/**
 * @param settings for all three, beside those that connect them.
 * @param stack kills them.
 */
export async function startObservedSystem(
  settings: Readonly<Record<string, string>>,
  stack: AsyncDisposableStack,
): Promise<ObservedSystem> {
  const [databaseUrl, temporal] = await Promise.all([createTestDatabase(), createTestNamespace()]);
  const [rpc, live, sandbox] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const servicesUrl = `http://127.0.0.1:${rpc}`;
  const { token, entry } = newServiceToken('test');
  const processes: Program[] = [];
  const start = async (file: string, own: Readonly<Record<string, string | number>>, listening: string) => {
    const all = { OPS_PORT: 0, LOG_LEVEL: 'info', ...settings, ...own };
    const asText = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
    const process = stack.use(startProgram(file, asText));
    processes.push(process);
    await vi.waitFor(() => expect(process.logged()).toContain(listening), STARTED);
  };
  const services = {
    DATABASE_URL: databaseUrl,
    GRPC_PORT: rpc,
    SERVICE_TOKENS: entry,
    ...newKeyRings(),
    ...loopbackSettings(),
  };
  await start('services/main.ts', services, 'services are listening');
  const caller = { SERVICES_URL: servicesUrl, SERVICE_TOKEN: token };
  const gateway = { ...caller, LIVE_PORT: live, SANDBOX_PORT: sandbox };
  const worker = {
    ...caller,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...testWorkflowBundles(),
  };
  await Promise.all([
    start('gateway/main.ts', gateway, 'the public API is listening'),
    start('workflows/main.ts', worker, 'the worker has connected to Temporal'),
  ]);
  return {
    transport: createConnectTransport({
      baseUrl: servicesUrl,
      httpVersion: '1.1',
      interceptors: [bearer(token)],
    }),
    sandboxPort: sandbox,
    lines: () =>
      processes
        .flatMap(({ logged }) => logged().split('\n').slice(0, -1))
        .map((line) => JSON.parse(line) as LogLine)
        .sort((a, b) => a.time - b.time),
  };
}
