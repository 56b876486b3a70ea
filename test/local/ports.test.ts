import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { assertPortsFree, findFreePort } from '../../local/ports.ts';
import { portOf } from '../support/port-of.ts';

async function occupy(host: string) {
  const server = createServer().listen(0, host);
  const port = await portOf(server);
  return { port, [Symbol.dispose]: () => server.close() };
}

test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])(
  'a port in use on %s is reported with its setting',
  async (host) => {
    using occupied = await occupy(host);
    const free = await findFreePort();
    const ports = [
      { setting: 'SANDBOX_PORT', port: free },
      { setting: 'LIVE_PORT', port: occupied.port },
    ];
    await expect(assertPortsFree(ports)).rejects.toMatchObject({
      reason: 'PORT_IN_USE',
      message: `LIVE_PORT ${occupied.port} is in use by another process`,
    });
  },
);

test('all ports in use are reported in one line', async () => {
  using live = await occupy('127.0.0.1');
  using grpc = await occupy('127.0.0.1');
  await expect(
    assertPortsFree([
      { setting: 'LIVE_PORT', port: live.port },
      { setting: 'GRPC_PORT', port: grpc.port },
    ]),
  ).rejects.toThrow(
    `LIVE_PORT ${live.port} is in use by another process; GRPC_PORT ${grpc.port} is in use by another process`,
  );
});

test('two settings with the same port are refused', async () => {
  const port = await findFreePort();
  await expect(
    assertPortsFree([
      { setting: 'LIVE_PORT', port },
      { setting: 'SANDBOX_PORT', port },
    ]),
  ).rejects.toThrow(`LIVE_PORT and SANDBOX_PORT are both ${port}`);
});

test('an address that this machine does not have is refused', async () => {
  const port = await findFreePort();
  await expect(assertPortsFree([{ setting: 'OPS_PORT', port, host: '192.0.2.1' }])).rejects.toMatchObject({
    reason: 'PORT_NOT_ALLOWED',
    message: `OPS_PORT ${port} cannot be opened on 192.0.2.1: EADDRNOTAVAIL`,
  });
});

test('free ports pass and can be opened afterwards; 0 may appear more than once', async () => {
  const port = await findFreePort();
  await assertPortsFree([
    { setting: 'LIVE_PORT', port },
    { setting: 'SANDBOX_PORT', port: 0 },
    { setting: 'GRPC_PORT', port: 0 },
  ]);
  const server = createServer().listen(port, '127.0.0.1');
  expect(await portOf(server)).toBe(port);
  server.close();
});
