import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../local/ports.ts';
import type { StartedSystem } from './started-system.ts';

/** Settings of a system whose webhooks other processes send. */
export const WITHOUT_LANES = { SERVICES: 'refunds,catalog,funds,advances,webhooks,api-keys,accounts' };

/** Starts a process that owns lanes and does nothing else. */
export async function startLaneOwner({ databaseUrl, laneSettings }: StartedSystem) {
  const opsPort = await findFreePort();
  const script = fileURLToPath(new URL('../../services/webhook-lanes.ts', import.meta.url));
  const settings = { ...laneSettings, DATABASE_URL: databaseUrl, HOST: '127.0.0.1', OPS_PORT: `${opsPort}` };
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const isReady = () =>
    fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('the process that owns lanes ended while it started');
    await delay(100);
  }
  return {
    pid: child.pid!,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
