import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transport } from '@connectrpc/connect';
import { inject } from 'vitest';
import { DataFolder } from '../../../local/data-folder.ts';
import { CONNECTOR_CALLER } from '../../../local/demo/connector/demo-connector.ts';
import { newKeyRings } from '../../../local/generated-secrets.ts';
import { findFreePort } from '../../../local/ports.ts';
import { startPostgres } from '../../../local/postgres/postgres-server.ts';
import { migrate } from '../../../services/platform/database/migrate.ts';
import { connectGrpc } from '../../../services/platform/rpc/remote-transport.ts';
import { KillableProcess } from '../../reconciliation/killable-process.ts';
import { postgresVictim, temporalVictim, type Victim } from '../../reconciliation/victims.ts';
import { newServiceToken } from '../../support/secrets.ts';
import { startTemporal, type TestTemporal } from '../../support/temporal.ts';
import { failover } from './failover.ts';

export const WHOLES = ['whole-1', 'whole-2'] as const;
export const PROCESSES = [...WHOLES, 'provider', 'postgres', 'temporal'] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** Refunds count as silent, and other cases as overdue, soon, so that the alerts fire within the test. */
export const SILENT_AFTER_MS = 10_000;

/** The whole system, as processes that can be killed. */
export interface MonthSystem extends AsyncDisposable {
  readonly victims: Readonly<Record<ProcessName, Victim>>;
  readonly temporal: TestTemporal;
  readonly databaseUrl: string;
  /** The SQLite file with what the provider has accepted and has to report. */
  readonly providerFile: string;
  /** Calls as a caller with every grant, to whichever process responds. */
  readonly transport: Transport;
  /** Operations listeners. */
  readonly opsUrls: readonly string[];
  /** Exits of the programs that no fault of the test caused. */
  crashes(): string[];
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;

/** Starts PostgreSQL, Temporal with its state in a file, two processes of services and worker, and a provider. */
export async function startMonthSystem(): Promise<MonthSystem> {
  await using stack = new AsyncDisposableStack();
  const path = await mkdtemp(join(tmpdir(), 'payments-month-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const folder = stack.adopt(DataFolder.open(path), (opened) => opened.close());
  const postgres = stack.adopt(await startPostgres({ folder, log: () => undefined }), (it) => it.stop());
  await migrate(postgres.url);
  // Its writes outlive its process, if not the machine.
  const temporal = stack.use(await startTemporal({ durable: false }));
  const test = newServiceToken('test');
  const connector = newServiceToken(CONNECTOR_CALLER.name, CONNECTOR_CALLER.grants);
  const worker = newServiceToken('worker');
  const [providerPort, ...grpcPorts] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const opsPorts = [await findFreePort(), await findFreePort()];
  const grpcUrls = grpcPorts.map(urlOf);
  const providerFile = folder.file('provider.db');
  const program = (name: string, file: string, readyLine: string, settings: Record<string, string>) =>
    stack.use(
      new KillableProcess({ name, file, readyLine, settings, logFile: folder.file(`logs/${name}.log`) }),
    );

  const provider = program('provider', `${import.meta.dirname}/provider-process.ts`, 'is listening', {
    PROVIDER_PORT: `${providerPort}`,
    PROVIDER_FILE: providerFile,
    PROVIDER_TOKEN_SHA256: worker.sha256,
    REPORT_TO: grpcUrls.join(' '),
    REPORT_TOKEN: connector.token,
  });
  const shared = {
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    DATABASE_POOL_SIZE: '10',
    ...newKeyRings(),
    REFUND_PROVIDER_URL: urlOf(providerPort),
    REFUND_PROVIDER_TOKEN: worker.token,
    PAYOUT_PROVIDER_URL: urlOf(providerPort),
    PAYOUT_PROVIDER_TOKEN: worker.token,
    PROVIDER_SILENT_AFTER: `${SILENT_AFTER_MS}ms`,
    REFUND_WORK_DUE_AFTER: `${SILENT_AFTER_MS}ms`,
    WORKFLOW_BUNDLE_DIR: inject('workflowBundleFolder'),
    SERVICE_TOKENS: `${test.entry};${connector.entry}`,
  };
  const wholes = WHOLES.map((name, n) =>
    program(name, 'test/journeys/whole-process.ts', 'the whole process is listening', {
      ...shared,
      GRPC_PORT: `${grpcPorts[n]}`,
      OPS_PORT: `${opsPorts[n]}`,
    }),
  );
  const programs = [provider, ...wholes];
  await Promise.all(programs.map((started) => started.start()));
  const connections = grpcUrls.map((url) => stack.adopt(connectGrpc(url, test.token), (it) => it.close()));
  const owned = stack.move();
  return {
    victims: {
      provider,
      'whole-1': wholes[0]!,
      'whole-2': wholes[1]!,
      postgres: postgresVictim(postgres),
      temporal: temporalVictim(temporal),
    },
    temporal,
    databaseUrl: postgres.url,
    providerFile,
    opsUrls: opsPorts.map(urlOf),
    transport: failover(connections.map(({ transport }) => transport)),
    crashes: () => programs.flatMap(({ crashes }) => crashes),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
