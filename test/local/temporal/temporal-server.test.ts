import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { findFreePort } from '../../../local/ports.ts';
import { identifyProcess } from '../../../local/processes/process-identity.ts';
import { setRetention } from '../../../local/temporal/temporal-namespace.ts';
import { TemporalServer, type TemporalStatus } from '../../../local/temporal/temporal-server.ts';
import { BACKGROUND_NICENESS } from '../../../services/platform/process/niceness.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/temporal/search-attributes.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

const NAMESPACE = 'payments';
const data = temporaryDataFolder();
const { folder } = data;
let port: number;
let temporal: TemporalServer;

beforeAll(async () => {
  port = await findFreePort();
  temporal = new TemporalServer({ folder, namespace: NAMESPACE, port });
  await temporal.whenUp();
}, TEMPORAL_START_MS);

afterAll(async () => {
  await temporal.stop();
  data[Symbol.dispose]();
});

async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: temporal.address });
  return work(connection).finally(() => connection.close());
}

const startWorkflow = (workflowId: string) =>
  withConnection((connection) =>
    new Client({ connection, namespace: NAMESPACE }).workflow.start('kept', {
      workflowId,
      taskQueue: 'without-worker',
    }),
  );

const statusOf = (workflowId: string) =>
  withConnection(async (connection) => {
    const handle = new Client({ connection, namespace: NAMESPACE }).workflow.getHandle(workflowId);
    return (await handle.describe()).status.name;
  });

function statusesOf(server: TemporalServer): TemporalStatus[] {
  const statuses: TemporalStatus[] = [];
  server.on('status', (status) => statuses.push(status));
  return statuses;
}

test('the namespace keeps closed workflows for seven days and has every search attribute', async () => {
  await withConnection(async ({ workflowService, operatorService }) => {
    const { config } = await workflowService.describeNamespace({ namespace: NAMESPACE });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 24 * 60 * 60);
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace: NAMESPACE });
    expect(Object.keys(customAttributes)).toEqual(
      expect.arrayContaining(SEARCH_ATTRIBUTES.map(({ name }) => name)),
    );
  });
});

test('the server is reached directly on a machine whose programs use a proxy', async () => {
  vi.stubEnv('http_proxy', `http://127.0.0.1:${await findFreePort()}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await setRetention(temporal.address, NAMESPACE);
});

test('on a full machine, requests and first attempts of deliveries go before the server', () => {
  expect(getPriority(temporal.pid)).toBe(getPriority() + BACKGROUND_NICENESS);
});

test('a killed server is restarted and keeps its workflows', async () => {
  await startWorkflow('before-the-kill');
  const statuses = statusesOf(temporal);
  const died = temporal.pid!;
  process.kill(died, 'SIGKILL');
  await vi.waitFor(() => expect(statuses.map(({ state }) => state)).toEqual(['starting', 'up']), 40_000);
  expect(statuses[0]!.detail).toBe('Temporal ended with signal SIGKILL; restarting');
  expect(temporal.pid).not.toBe(died);
  expect(await statusOf('before-the-kill')).toBe('RUNNING');
});

test('a second start waits until its port is free, then serves the same workflows and retention', async () => {
  await startWorkflow('before-the-stop');
  const stopped = temporal.pid!;
  await temporal.stop();
  expect(identifyProcess(stopped)).toBeUndefined();
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  temporal = new TemporalServer({ folder, namespace: NAMESPACE, port });
  const detail = `TEMPORAL_PORT ${port} is in use by another process; restarting`;
  await vi.waitFor(() => expect(temporal.status).toMatchObject({ state: 'starting', detail }), 40_000);
  other.close();
  await temporal.whenUp(AbortSignal.timeout(20_000));
  expect(await statusOf('before-the-stop')).toBe('RUNNING');
  await withConnection(async ({ workflowService }) => {
    const { config } = await workflowService.describeNamespace({ namespace: NAMESPACE });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 24 * 60 * 60);
  });
});

test('a server whose file is damaged says what to do, and starts once that is done', async () => {
  using own = temporaryDataFolder();
  const file = own.folder.file('temporal.db');
  writeFileSync(file, 'not a database'.repeat(1_000));
  const ownPort = await findFreePort();
  const damaged = new TemporalServer({ folder: own.folder, namespace: NAMESPACE, port: ownPort });
  await vi.waitFor(() => expect(damaged.status.detail).toContain(`; delete ${file}: workflows`), 40_000);
  rmSync(file);
  await damaged.whenUp(AbortSignal.timeout(40_000));
  await damaged.stop();
});

test('an external server is watched and not started', async () => {
  using own = temporaryDataFolder();
  const address = `127.0.0.1:${await findFreePort()}`;
  const absent = new TemporalServer({ folder: own.folder, namespace: NAMESPACE, address, port: 1 });
  await vi.waitFor(() => expect(absent.status.state).toBe('unavailable'), 40_000);
  expect(absent.status.detail).toMatch(`TEMPORAL_ADDRESS ${address} does not answer`);
  await absent.stop();
  const present = new TemporalServer({
    folder: own.folder,
    namespace: NAMESPACE,
    address: temporal.address,
    port: 1,
  });
  await present.whenUp(AbortSignal.timeout(10_000));
  expect([present.pid, absent.pid]).toEqual([undefined, undefined]);
  await present.stop();
});
