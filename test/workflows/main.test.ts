import { expect, it, vi } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { scrape } from '../support/scrape.ts';

it('a separate worker reports its health, even while Temporal and the services are unavailable', async () => {
  const port = await findFreePort();
  const opsUrl = `http://127.0.0.1:${port}`;
  const { child, exited } = startRuntime('workflows/main.ts', {
    SERVICES_URL: 'http://127.0.0.1:1',
    SERVICE_TOKEN: 'token',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    OPS_PORT: `${port}`,
  });
  await vi.waitFor(() => fetch(`${opsUrl}/healthz`), { timeout: 60_000, interval: 100 });
  const ready = await fetch(`${opsUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', temporal: 'away' }]);
  const scraped = await scrape(opsUrl);
  expect(scraped('payments_temporal_up')).toBe(0);
  expect(scraped('payments_workflow_command_errors_total{kind="CLAIM"}')).toBe(0);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ exitCode: 0, stderr: '' });
});
