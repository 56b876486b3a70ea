import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { assertPortsFree, findFreePort } from '../../local/ports.ts';

async function occupy(host: string) {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.dispose]: () => server.close() };
}

test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])(
  'a port taken on %s is named with its setting',
  async (host) => {
    using taken = await occupy(host);
    const free = await findFreePort();
    const ports = [
      { setting: 'SANDBOX_PORT', port: free },
      { setting: 'LIVE_PORT', port: taken.port },
    ];
    await expect(assertPortsFree(ports)).rejects.toMatchObject({
      reason: 'PORT_IN_USE',
      message: `LIVE_PORT ${taken.port} is in use by another process`,
    });
  },
);

test('all taken ports are told on one line', async () => {
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

test('two settings with one port are refused', async () => {
  const port = await findFreePort();
  await expect(
    assertPortsFree([
      { setting: 'LIVE_PORT', port },
      { setting: 'SANDBOX_PORT', port },
    ]),
  ).rejects.toThrow(`LIVE_PORT and SANDBOX_PORT are both ${port}`);
});

test('an address that this machine does not have is refused by name', async () => {
  const port = await findFreePort();
  await expect(assertPortsFree([{ setting: 'OPS_PORT', port, host: '192.0.2.1' }])).rejects.toMatchObject({
    reason: 'PORT_NOT_ALLOWED',
    message: `OPS_PORT ${port} cannot be opened on 192.0.2.1: EADDRNOTAVAIL`,
  });
});

test('free ports, and 0 more than once, pass and can be opened afterwards', async () => {
  const port = await findFreePort();
  await assertPortsFree([
    { setting: 'LIVE_PORT', port },
    { setting: 'SANDBOX_PORT', port: 0 },
    { setting: 'GRPC_PORT', port: 0 },
  ]);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});
