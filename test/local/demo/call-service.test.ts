import { createServer } from 'node:net';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { callService, ServiceStoppedError } from '../../../local/demo/call-service.ts';
import { Health } from '../../../proto/gen/health/v1/health_pb.js';
import { portOf } from '../../support/port-of.ts';

/** The URL of a server that cuts every connection, or, once closed, refuses them. */
async function unreachable(how: 'cuts' | 'refuses') {
  const server = createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1');
  const address = `http://127.0.0.1:${await portOf(server)}`;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (how === 'refuses') await close();
  return { address, [Symbol.asyncDispose]: async () => void (how === 'cuts' && (await close())) };
}

const line = (address: string) =>
  `the service stopped answering at ${address}: run npm start, then npm run demo again`;

test.each(['cuts', 'refuses'] as const)('says what to do when HTTP finds a service that %s', async (how) => {
  await using service = await unreachable(how);
  const { address } = service;
  const call = callService(address, () => request(address));
  await expect(call).rejects.toThrow(new ServiceStoppedError(address, undefined));
  await expect(call).rejects.toThrow(line(address));
});

test.each(['cuts', 'refuses'] as const)('says what to do when gRPC finds a service that %s', async (how) => {
  await using service = await unreachable(how);
  const { address } = service;
  const interceptor: Interceptor = (next) => (call) => callService(address, () => next(call));
  const transport = createGrpcTransport({ baseUrl: address, interceptors: [interceptor] });
  const failure: unknown = await createClient(Health, transport)
    .check({})
    .catch((error: unknown) => error);
  expect(failure).toHaveProperty('cause', expect.any(ServiceStoppedError));
  expect(failure).toHaveProperty('cause.message', line(address));
});

test('passes on every other failure', async () => {
  const failure = new Error('the case is closed');
  await expect(callService('http://127.0.0.1:1', () => Promise.reject(failure))).rejects.toBe(failure);
});
