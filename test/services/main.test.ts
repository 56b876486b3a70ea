import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, onTestFinished, test } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { Health, HealthCheckResponse_ServingStatus } from '../../proto/gen/health/v1/health_pb.js';
import { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';
import { openLink } from '../reconciliation/faulty-link.ts';
import { createTestDatabase, newTenant } from '../support/harness.ts';
import type { Program } from '../support/program.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { newServiceToken } from '../support/secrets.ts';
import { lockWaits, openSession, query } from '../support/sql.ts';

const secrets = newKeyRings();

const start = (settings: Record<string, string>) => startRuntime('services/main.ts', settings);
const listening = ({ logged }: Program) =>
  expect.poll(logged, { timeout: 40_000 }).toContain('services are listening');

test('two processes that start together on an empty database migrate it once, serve, and stop in order', async () => {
  const DATABASE_URL = await createTestDatabase('template0');
  const ports = [await findFreePort(), await findFreePort()];
  const both = ports.map((port) =>
    start({ ...secrets, DATABASE_URL, SERVICES: 'catalog', GRPC_PORT: String(port), OPS_PORT: '0' }),
  );
  await Promise.all(both.map(listening));
  for (const port of ports) {
    const client = createClient(Health, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
    const { status } = await client.check({ service: 'payments.catalog.v1.ProductService' });
    expect(status).toBe(HealthCheckResponse_ServingStatus.SERVING);
  }
  const rows = await query(DATABASE_URL, 'select name from migration order by name');
  const migrations = await readdir(new URL('../../services/migrations', import.meta.url));
  expect(rows.map(({ name }) => name)).toEqual(migrations.filter((name) => name.endsWith('.sql')).sort());
  for (const { child } of both) child.kill('SIGTERM');
  const ends = await Promise.all(both.map(({ exited }) => exited));
  expect(ends).toEqual([
    { exitCode: 0, stderr: '' },
    { exitCode: 0, stderr: '' },
  ]);
});

test('on SIGTERM, a process finishes the calls in progress before it exits, but waits for no collector of traces', async () => {
  const databaseUrl = await createTestDatabase();
  const [port, ops] = [await findFreePort(), await findFreePort()];
  const { token, entry } = newServiceToken('test');
  const settings = { SERVICES: 'catalog', GRPC_PORT: `${port}`, OPS_PORT: `${ops}`, SERVICE_TOKENS: entry };
  using collector = await openSilentServer();
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
  const process = start({ ...secrets, ...settings, ...tracing, DATABASE_URL: databaseUrl });
  await listening(process);
  const baseUrl = `http://127.0.0.1:${port}`;
  const products = createClient(
    ProductService,
    createGrpcTransport({ baseUrl, interceptors: [bearer(token)] }),
  );
  await using holder = await openSession(databaseUrl);
  await holder.query('begin; lock table catalog.product');
  const answered = products.listProducts(newTenant());
  await expect.poll(() => lockWaits({ databaseUrl })).toHaveLength(1);
  process.child.kill('SIGTERM');
  const newConnection = async () => {
    const socket = connect(port, '127.0.0.1');
    const opened = once(socket, 'connect');
    await opened.finally(() => socket.destroy());
  };
  await expect.poll(() => newConnection().catch(({ code }) => code)).toBe('ECONNREFUSED');
  expect((await fetch(`http://127.0.0.1:${ops}/readyz`)).status).toBe(503);
  await holder.query('rollback');
  expect((await answered).products).toEqual([]);
  const answeredAt = performance.now();
  expect(await process.exited).toEqual({ exitCode: 0, stderr: '' });
  expect(process.logged()).toContain('traces are sent');
  expect(process.logged()).not.toContain('collector:secret');
  // An export is tried for ten seconds.
  expect(performance.now() - answeredAt).toBeLessThan(8_000);
});

test('without the address of a collector, a process neither records nor sends spans, whatever else is set', async () => {
  const port = await findFreePort();
  const { token, entry } = newServiceToken('test');
  const settings = { SERVICES: 'catalog', GRPC_PORT: `${port}`, OPS_PORT: '0', SERVICE_TOKENS: entry };
  using collector = await openSilentServer();
  const tracing = {
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
    // Only the SDK reads this one.
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url,
  };
  const NODE_V8_COVERAGE = await mkdtemp(join(tmpdir(), 'payments-loaded-'));
  onTestFinished(() => rm(NODE_V8_COVERAGE, { recursive: true }));
  const DATABASE_URL = await createTestDatabase();
  const process = start({ ...secrets, ...settings, ...tracing, NODE_V8_COVERAGE, DATABASE_URL });
  await listening(process);
  const products = createClient(
    ProductService,
    createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}`, interceptors: [bearer(token)] }),
  );
  expect((await products.listProducts(newTenant())).products).toEqual([]);
  process.child.kill('SIGTERM');
  // A process that stops sends what it has recorded.
  expect(await process.exited).toEqual({ exitCode: 0, stderr: '' });
  expect(process.logged()).not.toContain('traces are sent');
  expect(collector.connections).toBe(0);
  const loaded = await modulesIn(NODE_V8_COVERAGE);
  expect(loaded.filter((url) => url.includes('/tracing/start-tracing.'))).toHaveLength(1);
  expect(loaded.filter((url) => /\/export-traces\.|\/@opentelemetry\/(sdk|exporter)/.test(url))).toEqual([]);
});

/** The URLs of the modules that a process loaded, by the coverage that Node.js wrote when it ended. */
async function modulesIn(folder: string): Promise<string[]> {
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  );
  return files.flatMap((text) => {
    const { result } = JSON.parse(text) as { result: { url: string }[] };
    return result.map(({ url }) => url);
  });
}

/** A server that accepts connections and never answers. */
async function openSilentServer() {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://collector:secret@127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    [Symbol.dispose]: () => server.close(),
  };
}

test('services and webhook lanes stop within ten seconds even if PostgreSQL is silent', async () => {
  const url = new URL(await createTestDatabase());
  await using link = await openLink(Number(url.port));
  url.host = `127.0.0.1:${link.port}`;
  const settings = { ...secrets, GRPC_PORT: '0', OPS_PORT: '0', DATABASE_URL: url.href };
  const both = ['services/main.ts', 'services/webhook-lanes.ts'].map((name) => startRuntime(name, settings));
  await expect.poll(both[0]!.logged, { timeout: 40_000 }).toContain('services are listening');
  await expect.poll(both[1]!.logged, { timeout: 40_000 }).toContain('webhook lanes are running');
  link.begin('drop');
  // By then both wait for answers.
  await delay(2_000);
  const stoppedAt = performance.now();
  for (const { child } of both) child.kill('SIGTERM');
  const ends = await Promise.all(both.map(({ exited }) => exited));
  expect(ends).toEqual([
    { exitCode: 0, stderr: '' },
    { exitCode: 0, stderr: '' },
  ]);
  // Some more on a busy machine. The answers would be given up after 75 seconds.
  expect(performance.now() - stoppedAt).toBeLessThan(15_000);
});

test('reports all invalid settings at once', async () => {
  const { exitCode, stderr } = await start({ GRPC_PORT: 'x', SERVICES: 'parties' }).exited;
  expect(exitCode).toBe(1);
  expect(stderr.match(/^ {2}[A-Z_]+ .*$/gm)?.map((line) => line.trim().split(' ')[0])).toEqual([
    'GRPC_PORT',
    'DATABASE_URL',
    'SERVICES',
    'API_KEY_PEPPERS',
    'WEBHOOK_SECRET_KEYS',
    'CURSOR_KEYS',
  ]);
});

test('waits for PostgreSQL, not ready meanwhile, says so in one line, and can be stopped', async () => {
  const url = new URL(await createTestDatabase('template0'));
  const link = await openLink(Number(url.port));
  onTestFinished(() => link[Symbol.asyncDispose]());
  const end = link.begin('reset');
  url.host = `127.0.0.1:${link.port}`;
  const ops = await findFreePort();
  const settings = { ...secrets, SERVICES: 'catalog', GRPC_PORT: '0', OPS_PORT: String(ops) };
  const waiting = start({ ...settings, DATABASE_URL: url.href });
  const readiness = async () => {
    const answer = await fetch(`http://127.0.0.1:${ops}/readyz`);
    return { ...((await answer.json()) as { error?: string }), status: answer.status };
  };
  await expect.poll(readiness, { timeout: 40_000 }).toMatchObject({ status: 503 });
  expect((await readiness()).error).toContain('ECONNRESET');
  await expect.poll(waiting.logged).toContain('PostgreSQL is unavailable');
  const stopped = start({ ...settings, OPS_PORT: '0', DATABASE_URL: url.href });
  await expect.poll(stopped.logged, { timeout: 40_000 }).toContain('PostgreSQL is unavailable');
  stopped.child.kill('SIGTERM');
  expect(await stopped.exited).toEqual({ exitCode: 0, stderr: '' });
  end();
  await listening(waiting);
  expect(await readiness()).toMatchObject({ status: 200 });
  expect(waiting.logged().match(/"msg":"PostgreSQL is unavailable/g)).toHaveLength(1);
});

test('a port in use and a database that does not exist are reported in one line each', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const settings = { ...secrets, SERVICES: 'catalog', GRPC_PORT: String(port), OPS_PORT: '0' };
  const refused = start({ ...settings, DATABASE_URL: await createTestDatabase('template0') });
  const missing = new URL(await createTestDatabase('template0'));
  missing.pathname = '/no_such_database';
  const lost = start({ ...settings, DATABASE_URL: missing.href });
  const line = (what: string) => ({
    exitCode: 1,
    stderr: expect.stringMatching(new RegExp(`^services failed: .*${what}.*\n$`)),
  });
  expect(await refused.exited).toEqual(line('EADDRINUSE'));
  expect(await lost.exited).toEqual(line('database "no_such_database" does not exist'));
  taken.close();
});
