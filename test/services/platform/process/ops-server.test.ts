import { expect, it, onTestFinished, vi } from 'vitest';
import { Drain } from '../../../../services/platform/process/drain.ts';
import { createOpsServer, type Readiness } from '../../../../services/platform/process/ops-server.ts';
import { metrics } from '../../../../services/platform/process/telemetry.ts';

const serverOf = (ready: () => Promise<Readiness>) => createOpsServer({ ready });
const ready = async () => ({ ok: true, details: {} });

it('reports that it is ready, and why it is not', async () => {
  const good = await serverOf(ready).inject('/readyz');
  expect([good.statusCode, good.json()]).toEqual([200, { status: 'ready' }]);
  const bad = await serverOf(() => Promise.reject(new Error('no database'))).inject('/readyz');
  expect([bad.statusCode, bad.json()]).toEqual([503, { status: 'not ready', error: 'no database' }]);
});

it('is no longer ready once the process begins to stop', async () => {
  const drain = new Drain(0);
  const server = createOpsServer({ ready, drain });
  expect((await server.inject('/readyz')).statusCode).toBe(200);
  await drain.begin();
  const stopping = await server.inject('/readyz');
  expect([stopping.statusCode, stopping.json()]).toEqual([503, { status: 'stopping' }]);
  expect((await server.inject('/healthz')).statusCode).toBe(200);
});

it('reveals nothing but the error message', async () => {
  const reading = vi.spyOn(metrics, 'metrics').mockRejectedValue(new Error('sesame'));
  onTestFinished(() => reading.mockRestore());
  const server = serverOf(ready);
  const answers = await Promise.all([
    server.inject('/nothing'),
    server.inject({ method: 'POST', url: '/healthz', payload: 'a=b' }),
    server.inject('/metrics'),
  ]);
  expect(answers.map((answer) => [answer.statusCode, answer.json()])).toEqual([
    [404, { status: 'not found' }],
    [404, { status: 'not found' }],
    [500, { status: 'failed' }],
  ]);
});
