import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as requestHttp1 } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ServerReflection } from '../../../../proto/gen/grpc/reflection/v1/reflection_pb.js';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../../proto/gen/health/v1/health_pb.js';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { databaseUnavailable } from '../../../../services/platform/errors.ts';
import { Drain } from '../../../../services/platform/process/drain.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { DATABASE } from '../../../../services/platform/rpc/health.service.ts';
import { rpcInterceptors } from '../../../../services/platform/rpc/interceptors.ts';
import { bearer } from '../../../../services/platform/rpc/remote-transport.ts';
import { bindService } from '../../../../services/platform/rpc/service-binding.ts';
import { createServices } from '../../../../services/server.ts';
import { createTestDatabase, newKey, newTenant, startHarness, testConfig } from '../../../support/harness.ts';
import { scrape } from '../../../support/scrape.ts';
import { openPort, sha256Of } from './open-port.ts';

test.each(['grpc', 'connect'] as const)(
  'the port closes at once when its %s connections are idle',
  async (way) => {
    const harness = await startHarness({ SERVICES: 'catalog' });
    const client = createClient(ProductService, harness.transports[way]);
    await client.listProducts(newTenant());
    const from = performance.now();
    await harness.close();
    expect(performance.now() - from).toBeLessThan(2_500);
    await expect(client.listProducts(newTenant())).rejects.toThrow();
  },
);

test('the port closes at once even if a connection has never sent a byte', async () => {
  const harness = await startHarness({ SERVICES: 'catalog' });
  const silent = connect(Number(new URL(harness.baseUrl).port));
  await once(silent, 'connect');
  await createClient(ProductService, harness.transports.connect).listProducts(newTenant());
  const from = performance.now();
  await Promise.all([harness.close(), once(silent, 'close')]);
  expect(performance.now() - from).toBeLessThan(2_500);
});

test('the port closes even if a client keeps its connection open after the port has ended it', async () => {
  const { server, port } = await openPort({
    timeouts: { headersTimeoutMs: 15_000, bodyTimeoutMs: 30_000, idleTimeoutMs: 900_000, shutdownMs: 200 },
  });
  const stubborn = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
  const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  stubborn.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), emptySettings]));
  await once(stubborn, 'data');
  await server.close();
  stubborn.destroy();
}, 10_000);

test('a client that watches the health of a closing port learns of it, and does not hold it open', async () => {
  const harness = await startHarness({ SERVICES: 'catalog' });
  const watched: unknown[] = [];
  const watching = (async () => {
    const health = createClient(Health, harness.transports.grpc);
    for await (const { status } of health.watch({})) watched.push(status);
  })();
  await expect.poll(() => watched).toEqual([Status.SERVING]);
  const from = performance.now();
  await Promise.all([harness.close(), watching]);
  expect(performance.now() - from).toBeLessThan(2_500);
  expect(watched).toEqual([Status.SERVING, Status.NOT_SERVING]);
});

test('a process that is about to stop still serves, but is not healthy', async () => {
  const drain = new Drain(0);
  const services = await createServices({
    config: testConfig({ SERVICES: 'catalog' }),
    databaseUrl: await createTestDatabase(),
    logger: createLogger('silent'),
    drain,
  });
  await services.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = services.server.server.address() as AddressInfo;
  const health = createClient(Health, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
  expect((await health.check({})).status).toBe(Status.SERVING);
  await drain.begin();
  expect((await health.check({})).status).toBe(Status.NOT_SERVING);
  // A gateway that reaches this process alone stays ready.
  expect((await health.check({ service: DATABASE })).status).toBe(Status.SERVING);
  await services.close();
});

test('a caller that disconnects from a stream is logged as no failure', async () => {
  const lines: string[] = [];
  const ended = Promise.withResolvers<void>();
  async function* serverReflectionInfo(requests: AsyncIterable<unknown>) {
    try {
      for await (const _request of requests) yield {};
    } finally {
      ended.resolve();
    }
  }
  const { server, url } = await openPort({
    bindings: [bindService(ServerReflection, { serverReflectionInfo } as never)],
    interceptors: rpcInterceptors(pino({}, { write: (line: string) => lines.push(line) })),
  });
  const session = connectHttp2(url);
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${ServerReflection.typeName}/ServerReflectionInfo`,
    'content-type': 'application/grpc',
  });
  // One empty message.
  stream.write(Buffer.alloc(5));
  await once(stream, 'data');
  session.destroy();
  await ended.promise;
  await setImmediate();
  expect(lines).toEqual([]);
  await server.close();
});

test('a call that fails because another area or the database is unavailable is one warning without a stack; one that fails otherwise is counted', async () => {
  const lines: string[] = [];
  const { server, url: baseUrl } = await openPort({
    bindings: [
      bindService(ProductService, {
        async listProducts() {
          throw new ConnectError('the database cannot be reached; try again', Code.Unavailable);
        },
        async archiveProduct() {
          throw databaseUnavailable();
        },
        async getProduct() {
          throw new Error('unexpected');
        },
      } as never),
    ],
    interceptors: rpcInterceptors(pino({}, { write: (line: string) => lines.push(line) })),
  });
  const products = createClient(
    ProductService,
    createGrpcTransport({ baseUrl, interceptors: [bearer('t')] }),
  );
  const failures = async () => (await scrape())('payments_rpc_failures_total')!;
  const before = await failures();
  const code = Code.Unavailable;
  await expect(products.listProducts(newTenant())).rejects.toMatchObject({ code });
  const archiving = { ...newTenant(), idempotencyKey: newKey(), productId: randomUUID() };
  await expect(products.archiveProduct(archiving)).rejects.toMatchObject({ code });
  expect(await failures()).toBe(before);
  const reasons = [
    'ConnectError: [unavailable] the database cannot be reached; try again',
    'DomainError: the database cannot be reached or is busy; try again',
  ];
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    reasons.map((reason) => ({ level: 40, reason, msg: 'RPC unavailable' })),
  );
  expect(lines.join()).not.toContain('stack');
  const unexpected = products.getProduct({ ...newTenant(), productId: randomUUID() });
  const failure = await unexpected.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: Code.Internal });
  const { requestId } = JSON.parse(lines.at(-1)!);
  expect(errorInfoOf(failure)).toMatchObject({ reason: 'INTERNAL_ERROR', metadata: { requestId } });
  expect(await failures()).toBe(before + 1);
  await server.close();
});

test('a closing port answers the call under way and one that arrives after it, then ends the connection', async () => {
  const answer = Promise.withResolvers<void>();
  let calls = 0;
  const listProducts = async () => {
    calls += 1;
    await answer.promise;
    return {};
  };
  const { server, port } = await openPort({
    bindings: [bindService(ProductService, { listProducts } as never)],
  });
  const socket = connect(port, '127.0.0.1');
  const received = socket.setEncoding('latin1').toArray();
  const call = [
    `POST /${ProductService.typeName}/ListProducts HTTP/1.1`,
    ...['host: localhost', 'authorization: Bearer t', 'content-type: application/json', 'content-length: 2'],
    '',
    '{}',
  ].join('\r\n');
  socket.write(call);
  await expect.poll(() => calls).toBe(1);
  const closed = server.close();
  await expect.poll(() => server.server.listening).toBe(false);
  socket.write(call);
  await expect.poll(() => calls).toBe(2);
  answer.resolve();
  await closed;
  const answers = (await received).join('');
  expect(answers.match(/HTTP\S+ \d+|connection: \S+/gi)).toEqual([
    'HTTP/1.1 200',
    'Connection: keep-alive',
    'HTTP/1.1 200',
    'connection: close',
  ]);
});

test.each(['grpc', 'connect'])(
  'a %s call whose caller disconnects while it is identified does not keep its place among those that run',
  async (way) => {
    const identified = Promise.withResolvers<void>();
    const find = async (sha256: string) => {
      if (sha256 === sha256Of('slow')) await identified.promise;
      return { name: 'test', grants: new Set(ALL_GRANTS) };
    };
    const { server, url } = await openPort({
      bindings: [bindService(ProductService, { listProducts: async () => ({}) } as never)],
      storedCallers: find,
      maxConcurrentCalls: 1,
    });
    const path = `/${ProductService.typeName}/ListProducts`;
    const call = () =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer fast', 'content-type': 'application/json' },
        body: '{}',
      });
    const slow = { authorization: 'Bearer slow', 'content-length': 7 };
    let disconnect: () => void;
    if (way === 'grpc') {
      const session = connectHttp2(url);
      const type = { 'content-type': 'application/grpc' };
      session
        .request({ ':method': 'POST', ':path': path, ...type, ...slow })
        .on('error', () => undefined)
        .write(Buffer.alloc(5));
      disconnect = () => session.destroy();
    } else {
      const request = requestHttp1(`${url}${path}`, {
        method: 'POST',
        headers: { ...slow, 'content-type': 'application/json' },
      });
      request.on('error', () => undefined).write('{');
      disconnect = () => request.destroy();
    }
    await expect.poll(async () => (await call()).status).toBe(503);
    disconnect();
    await setTimeout(50);
    identified.resolve();
    await expect.poll(async () => (await call()).status, { timeout: 5_000 }).toBe(200);
    await server.close();
  },
);
