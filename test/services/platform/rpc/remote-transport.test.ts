import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { Code, createClient } from '@connectrpc/connect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { WorkflowCommandService } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { remoteTransport } from '../../../../services/platform/rpc/remote-transport.ts';
import { newTenant, newWrite } from '../../../support/harness.ts';

/** Fails the first call. */
type FirstAnswer = (request: IncomingMessage, response: ServerResponse) => unknown;

const disconnect: FirstAnswer = ({ socket }) => socket.destroy();
/** What a load balancer answers for a process that has ended. */
const badGateway: FirstAnswer = (_request, response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');

/** Services that fail the first call in this way, and answer the others with nothing. */
async function startFailingServices(failFirst: FirstAnswer) {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    if (calls === 1) return failFirst(request, response);
    return response.writeHead(200, { 'content-type': 'application/proto' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const transport = remoteTransport(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'mps_token',
  );
  return { transport, calls: () => calls };
}

test.each([
  ['whose connection ends', disconnect],
  ['that a load balancer cannot pass on', badGateway],
])(
  'a call %s is repeated if it only reads or has an idempotency key, and not otherwise',
  async (_name, fail) => {
    const reads = await startFailingServices(fail);
    await createClient(ProductService, reads.transport).listProducts(newTenant());
    expect(reads.calls()).toBe(2);
    const keyed = await startFailingServices(fail);
    const write = { ...newWrite(newTenant()), name: 'Course' };
    await createClient(ProductService, keyed.transport).createProduct(write);
    expect(keyed.calls()).toBe(2);
    const claims = await startFailingServices(fail);
    const claim = createClient(WorkflowCommandService, claims.transport).claimCommands({ maxCommands: 1 });
    await expect(claim).rejects.toMatchObject({ code: Code.Unavailable });
    expect(claims.calls()).toBe(1);
  },
);

test('a call and its request end at the deadline or when its caller stops waiting', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const products = createClient(ProductService, remoteTransport(`http://127.0.0.1:${port}`, 'mps_token'));
  const caller = new AbortController();
  for (const [options, code] of [
    [{ timeoutMs: 200 }, Code.DeadlineExceeded],
    [{ signal: caller.signal }, Code.Canceled],
  ] as const) {
    const received = once(server, 'request');
    const answer = products.listProducts(newTenant(), options).catch((error: unknown) => error);
    const [request] = await received;
    const ended = once(request.socket, 'close');
    if ('signal' in options) caller.abort();
    expect(await answer).toMatchObject({ code });
    await ended;
  }
});

/** Services at this address that answer every call with nothing. */
async function startServices(address: string, port = 0) {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response.writeHead(200, { 'content-type': 'application/proto' }).end();
  }).listen(port, address);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, calls: () => calls };
}

/** The answer of the resolver for a name: its addresses, in this order; an error; or none at all. */
interface Resolver {
  answer: readonly string[] | Error | 'SILENT';
}

function resolverOf(name: string, answer: readonly string[]): Resolver {
  const lookup = dns.lookup as LookupFunction;
  const resolver: Resolver = { answer };
  const fakeLookup: LookupFunction = (host, options, callback) => {
    const { answer } = resolver;
    if (host !== name) return lookup(host, options, callback);
    if (answer === 'SILENT') return;
    const failed = answer instanceof Error;
    const addresses = failed ? [] : answer.map((address) => ({ address, family: 4 }));
    process.nextTick(() => callback(failed ? answer : null, addresses));
  };
  vi.spyOn(dns, 'lookup').mockImplementation(fakeLookup as typeof dns.lookup);
  onTestFinished(() => void vi.restoreAllMocks());
  return resolver;
}

/** Lets connections become as old as they may. */
const outliveConnections = () => void vi.setSystemTime(Date.now() + 61_000);

test('the processes of a name share its calls, within a minute also one that starts later', async () => {
  resolverOf('shared.test', ['127.0.0.1', '127.0.0.2']);
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const first = await startServices('127.0.0.1');
  const transport = remoteTransport(`http://shared.test:${first.port}`, 'mps_token');
  const products = createClient(ProductService, transport);
  const callOften = () => Promise.all(Array.from({ length: 40 }, () => products.listProducts(newTenant())));
  await callOften();
  expect(first.calls()).toBe(40);
  const later = await startServices('127.0.0.2', first.port);
  outliveConnections();
  await callOften();
  expect(later.calls()).toBeGreaterThan(0);
  expect(first.calls()).toBeGreaterThan(40);
});

test('services whose name cannot be resolved any more are called at their last addresses', async () => {
  const resolver = resolverOf('lost.test', ['127.0.0.1']);
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const services = await startServices('127.0.0.1');
  const transport = remoteTransport(`http://lost.test:${services.port}`, 'mps_token');
  const products = createClient(ProductService, transport);
  await products.listProducts(newTenant());
  for (const answer of [Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN' }), 'SILENT'] as const) {
    resolver.answer = answer;
    outliveConnections();
    await products.listProducts(newTenant(), { timeoutMs: 5_000 });
  }
  expect(services.calls()).toBe(3);
});
