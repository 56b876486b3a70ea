import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, type SecureContextOptions, setDefaultCACertificates } from 'node:tls';
import { Code, createClient } from '@connectrpc/connect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority, issueCertificate } from '../../../../local/certificates.ts';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { WorkflowCommandService } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TlsFiles } from '../../../../services/platform/process/tls-files.ts';
import { remoteTransport } from '../../../../services/platform/rpc/remote-transport.ts';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { resolverOf } from '../../../support/name-resolver.ts';
import { portOf } from '../../../support/port-of.ts';
import { scrape } from '../../../support/scrape.ts';

/** Fails the first call. */
type FirstAnswer = (request: IncomingMessage, response: ServerResponse) => unknown;

const disconnect: FirstAnswer = ({ socket }) => socket.destroy();
/** What a load balancer answers for a process that has ended. */
const badGateway: FirstAnswer = (_request, response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');

/** A server that answers probes, as services do, and passes calls to this listener. */
const createServices = (onCall: RequestListener) =>
  createServer((request, response) =>
    request.method === 'HEAD' ? response.writeHead(404).end() : onCall(request, response),
  );

/** Services that fail the first call in this way, and answer the others with nothing. */
async function startFailingServices(failFirst: FirstAnswer) {
  let calls = 0;
  const server = createServices((request, response) => {
    calls += 1;
    if (calls === 1) return failFirst(request, response);
    return response.writeHead(200, { 'content-type': 'application/proto' }).end();
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const transport = remoteTransport(`http://127.0.0.1:${await portOf(server)}`, 'mps_token');
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
  const calls = new EventEmitter();
  const server = createServices((request) => calls.emit('call', request)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  const port = await portOf(server);
  const products = createClient(ProductService, remoteTransport(`http://127.0.0.1:${port}`, 'mps_token'));
  const caller = new AbortController();
  for (const [options, code] of [
    [{ timeoutMs: 200 }, Code.DeadlineExceeded],
    [{ signal: caller.signal }, Code.Canceled],
  ] as const) {
    const received = once(calls, 'call');
    const answer = products.listProducts(newTenant(), options).catch((error: unknown) => error);
    const [request] = await received;
    const ended = once(request.socket, 'close');
    if ('signal' in options) caller.abort();
    expect(await answer).toMatchObject({ code });
    await ended;
  }
});

/** Services at this address that answer every call with nothing. */
async function startServices(address: string, port = 0, tls?: SecureContextOptions) {
  let calls = 0;
  const services = createServices((_request, response) => {
    calls += 1;
    response.writeHead(200, { 'content-type': 'application/proto' }).end();
  });
  const server = tls
    ? createSecureServer(tls, (...exchange) => services.emit('request', ...exchange))
    : services;
  server.listen(port, address);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: await portOf(server), calls: () => calls };
}

/** Lets connections become as old as they may. */
const outliveConnections = () => void vi.advanceTimersByTime(61_000);

test('the processes of a name share its calls, within a minute also one that starts later', async () => {
  resolverOf('shared.test', ['127.0.0.1', '127.0.0.2']);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
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
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
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

test('addresses of a name that has not been resolved for ten minutes, which may be those of others by then, get no calls', async () => {
  const resolver = resolverOf('outdated.test', ['127.0.0.1']);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const services = await startServices('127.0.0.1');
  const transport = remoteTransport(`http://outdated.test:${services.port}`, 'mps_token');
  const products = createClient(ProductService, transport);
  await products.listProducts(newTenant());
  resolver.answer = Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' });
  vi.advanceTimersByTime(601_000);
  await expect(products.listProducts(newTenant())).rejects.toMatchObject({ code: Code.Unavailable });
  expect(services.calls()).toBe(1);
});

/** A process that accepts connections, as its kernel does while it is frozen, and does nothing else. */
async function startFrozen(address: string, port: number) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => sockets.add(socket)).listen(port, address);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

test('neither a call that must not be repeated nor a stream is given to a frozen process, if another one answers', async () => {
  resolverOf('frozen.test', ['127.0.0.2', '127.0.0.1']);
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const services = await startServices('127.0.0.1');
  await startFrozen('127.0.0.2', services.port);
  const silences = async () => (await scrape())('payments_services_silent_total')!;
  const before = await silences();
  const url = `http://frozen.test:${services.port}`;
  const claims = createClient(WorkflowCommandService, remoteTransport(url, 'mps_token'));
  await claims.claimCommands({ maxCommands: 1 });
  const events = createClient(EventService, remoteTransport(url, 'mps_token'));
  // The test's server does not answer with a stream.
  const feed = Array.fromAsync(events.getEventFeed({}));
  await expect(feed).rejects.toMatchObject({ code: Code.Internal });
  expect(services.calls()).toBe(2);
  // Found by each of the two transports.
  expect((await silences()) - before).toBe(2);
});

/** A certificate for this name, and the files of a client with it. */
async function tlsOf(name: string) {
  const authority = await createAuthority();
  const { certificatePem, privateKeyPem } = await issueCertificate(authority, { names: [name] });
  const [ca, cert, key] = [authority.certificatePem, certificatePem, privateKeyPem].map((pem) =>
    Buffer.from(pem),
  );
  const files = { current: { ca, cert, key }, onReplaced: () => () => undefined } as unknown as TlsFiles;
  return { cert: cert!, key: key!, files };
}

test('a process that does not answer the TLS handshake is passed over for one that does', async () => {
  const name = 'frozen-tls.test';
  const { files, ...certificate } = await tlsOf(name);
  resolverOf(name, ['127.0.0.2', '127.0.0.1']);
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const services = await startServices('127.0.0.1', 0, certificate);
  await startFrozen('127.0.0.2', services.port);
  const transport = remoteTransport(`https://${name}:${services.port}`, 'mps_token', { files });
  await createClient(ProductService, transport).listProducts(newTenant(), { timeoutMs: 8_000 });
  expect(services.calls()).toBe(1);
});

/** Services that hold claims of commands for some time, behind an address that may stop to pass new connections on. */
async function startHoldingServices(address: string, port: number, claimsHeldMs: number) {
  const services = createServices(async ({ url }, response) => {
    if (url!.includes('ClaimCommands')) await delay(claimsHeldMs);
    response.writeHead(200, { 'content-type': 'application/proto' }).end();
  });
  const held = new Set<Socket>();
  let passesOn = true;
  const front = createTcpServer((socket) =>
    passesOn ? services.emit('connection', socket) : held.add(socket),
  ).listen(port, address);
  onTestFinished(() => {
    front.close();
    services.closeAllConnections();
    for (const socket of held) socket.destroy();
  });
  return {
    port: await portOf(front),
    hold() {
      passesOn = false;
    },
    passOn() {
      passesOn = true;
      for (const socket of held) services.emit('connection', socket);
      held.clear();
    },
  };
}

test('calls and streams reach services behind a load balancer that does the TLS, without a client certificate', async () => {
  const { files, ...certificate } = await tlsOf('localhost');
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, files.current.ca]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  const services = await startServices('127.0.0.1', 0, certificate);
  const transport = remoteTransport(`https://localhost:${services.port}`, 'mps_token');
  await createClient(ProductService, transport).listProducts(newTenant());
  const feed = Array.fromAsync(createClient(EventService, transport).getEventFeed({}));
  // The stand-in's answer is not a stream's.
  await expect(feed).rejects.toMatchObject({ code: Code.Internal });
  expect(services.calls()).toBe(2);
});

test('over TLS, too, no call waits for the connection of another one', async () => {
  const { files, ...certificate } = await tlsOf('localhost');
  const answerFirst = Promise.withResolvers<void>();
  let connections = 0;
  const server = createSecureServer(certificate, async ({ method }, response) => {
    if (method === 'HEAD' && connections++ === 0) await answerFirst.promise;
    response.writeHead(200, { 'content-type': 'application/proto' }).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `https://localhost:${await portOf(server)}`;
  const products = createClient(ProductService, remoteTransport(url, 'mps_token', { files }));
  const answered: string[] = [];
  const first = products.listProducts(newTenant()).then(() => answered.push('first'));
  const second = products.listProducts(newTenant()).then(() => answered.push('second'));
  await second;
  answerFirst.resolve();
  await first;
  expect(answered).toEqual(['second', 'first']);
});

test('calls in progress go on at a load balancer that has several addresses and passes a new connection to a frozen process', async () => {
  resolverOf('balanced.test', ['127.0.0.2', '127.0.0.1']);
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const others = await startServices('127.0.0.1');
  const balancer = await startHoldingServices('127.0.0.2', others.port, 3_500);
  const transport = remoteTransport(`http://balanced.test:${others.port}`, 'mps_token');
  const products = createClient(ProductService, transport);
  const commands = createClient(WorkflowCommandService, transport);
  let isDone = false;
  const claim = commands.claimCommands({ maxCommands: 1 }).finally(() => {
    isDone = true;
  });
  const readOften = async () => {
    for (; !isDone; await delay(100)) await products.listProducts(newTenant());
  };
  const reads = readOften();
  await delay(500);
  balancer.hold();
  const readsAtOnce = Array.from({ length: 3 }, () => products.listProducts(newTenant()));
  await Promise.all([claim, reads, ...readsAtOnce]);
  expect(others.calls()).toBeGreaterThan(0);
});

test('calls in progress go on at a process that pauses, if nothing listens at the other addresses of its name', async () => {
  resolverOf('paused.test', ['127.0.0.1', '127.0.0.3']);
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const services = await startHoldingServices('127.0.0.1', 0, 4_500);
  const transport = remoteTransport(`http://paused.test:${services.port}`, 'mps_token');
  const claim = createClient(WorkflowCommandService, transport).claimCommands({ maxCommands: 1 });
  await delay(100);
  services.hold();
  const read = createClient(ProductService, transport).listProducts(newTenant());
  await delay(4_000);
  services.passOn();
  await Promise.all([claim, read]);
});

test('a connection is tried with the host and the path that load balancers route calls by, also if it is ended after each answer', async () => {
  const heads: string[] = [];
  const proxy = createTcpServer((socket) =>
    socket.once('data', (data) => {
      const [requested, ...head] = data.toString('latin1').split('\r\n');
      if (requested!.startsWith('POST'))
        return socket.end('HTTP/1.0 200 OK\r\ncontent-type: application/proto\r\n\r\n');
      heads.push(requested!, head.find((line) => line.startsWith('host'))!);
      return socket.end('HTTP/1.0 404 Not Found\r\n\r\n');
    }),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  const host = `127.0.0.1:${await portOf(proxy)}`;
  const commands = createClient(
    WorkflowCommandService,
    remoteTransport(`http://${host}/payments`, 'mps_token'),
  );
  await commands.claimCommands({ maxCommands: 1 });
  expect(heads).toEqual(['HEAD /payments HTTP/1.1', `host: ${host}`]);
});
