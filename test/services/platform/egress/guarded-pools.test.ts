import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createLoopbackGuard, post } from '../../../support/loopback-guard.ts';
import { startReceiver } from '../../../support/tls-receiver.ts';

describe('pools of guarded connections', () => {
  it('send one request after the other over one connection', async () => {
    await using receiver = await startReceiver();
    await using guard = createLoopbackGuard();
    for (let i = 0; i < 5; i++) {
      await post(guard, `https://hooks.example.com:${receiver.port}/`);
      await turn(); // undici takes a connection back in the next turn of the event loop
    }
    expect(receiver.requests).toHaveLength(5);
    expect(receiver.connections).toHaveLength(1);
    expect(guard.poolCount).toBe(1);
  });

  it('share no connection between two keys of the same endpoint', async () => {
    await using receiver = await startReceiver();
    await using guard = createLoopbackGuard();
    await post(guard, `https://hooks.example.com:${receiver.port}/`, 'one');
    await post(guard, `https://hooks.example.com:${receiver.port}/`, 'two');
    expect(receiver.connections).toHaveLength(2);
    expect(guard.poolCount).toBe(2);
  });

  it('limit their concurrent connections', async () => {
    await using receiver = await startReceiver((_request, response) => {
      setTimeout(() => response.writeHead(204).end(), 50);
    });
    await using guard = createLoopbackGuard({ connectionsPerPool: 2 });
    await Promise.all(
      Array.from({ length: 6 }, () => post(guard, `https://hooks.example.com:${receiver.port}/`)),
    );
    expect(receiver.requests).toHaveLength(6);
    expect(receiver.connections).toHaveLength(2);
  });

  it('are removed with their connections, but not during a request, and reopened on demand', async () => {
    const slow = Promise.withResolvers<void>();
    await using receiver = await startReceiver(async (request, response) => {
      if (request.url === '/slow') await slow.promise;
      // Too short for another request.
      response.writeHead(204, { 'keep-alive': 'timeout=1' }).end();
    });
    await using guard = createLoopbackGuard({ poolSweepMs: 30 });
    const under = post(guard, `https://hooks.example.com:${receiver.port}/slow`, 'slow');
    await post(guard, `https://hooks.example.com:${receiver.port}/`, 'quick');
    await vi.waitFor(() => expect(guard.poolCount).toBe(1), 40_000);
    await delay(150);
    expect(guard.poolCount).toBe(1);
    slow.resolve();
    expect(await under).toBe(204);
    await vi.waitFor(() => expect(guard.poolCount).toBe(0), 40_000);
    await vi.waitFor(
      () => expect(receiver.connections.every((socket) => socket.destroyed)).toBe(true),
      10_000,
    );
    expect(await post(guard, `https://hooks.example.com:${receiver.port}/`, 'quick')).toBe(204);
  });
});
