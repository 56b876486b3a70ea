import { mkdtemp, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouterTransport } from '@connectrpc/connect';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { ConfigError } from '../../services/platform/process/config.ts';
import { BACKGROUND_NICENESS } from '../../services/platform/process/niceness.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { startWorker } from '../../workflows/worker.ts';
import { testConfig } from '../support/harness.ts';
import { startRuntime } from '../support/runtime-process.ts';
import { scrape } from '../support/scrape.ts';
import { testWorkflowBundles } from '../support/temporal-namespace.ts';

it('a separate worker reports its health, even while Temporal and the services are unavailable', async () => {
  const port = await findFreePort();
  const opsUrl = `http://127.0.0.1:${port}`;
  const settings = {
    SERVICES_URL: 'http://127.0.0.1:1',
    SERVICE_TOKEN: 'token',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    ...testWorkflowBundles(),
    OPS_PORT: `${port}`,
  };
  const { child, exited } = startRuntime('workflows/main.ts', settings, { via: ['nice', '-n', '5'] });
  await vi.waitFor(() => fetch(`${opsUrl}/healthz`), { timeout: 60_000, interval: 100 });
  const ready = await fetch(`${opsUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', temporal: 'unavailable' }]);
  // On a full machine, requests and first attempts of deliveries go before retries; an operator may lower it further.
  expect(getPriority(child.pid)).toBe(getPriority() + 5 + BACKGROUND_NICENESS);
  const scraped = await scrape(opsUrl);
  expect(scraped('payments_temporal_up')).toBe(0);
  expect(scraped('payments_workflow_command_errors_total{kind="CLAIM"}')).toBe(0);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ exitCode: 0, stderr: '' });
});

it('a worker whose bundled workflow code is missing does not start, and names the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'no-bundles-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const starting = startWorker({
    config: testConfig({ WORKFLOW_BUNDLE_DIR: folder }),
    logger: createLogger('silent'),
    transport: createRouterTransport(() => undefined),
    temporalAddress: '127.0.0.1:1',
  });
  await expect(starting).rejects.toThrow(ConfigError);
  await expect(starting).rejects.toThrow(
    new RegExp(`WORKFLOW_BUNDLE_DIR has no workflow code: .*${join(folder, 'workflows.cjs')}`),
  );
});
