import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../local/ports.ts';

/** A running `npm start`, with its own data folder and ports. */
export interface StartedSystem {
  /** Address of the internal API. */
  readonly grpcUrl: string;
  /** Of a caller who may do everything. */
  readonly token: string;
  readonly pid: number;
  /** Of the PostgreSQL that it started, as the owner. */
  readonly databaseUrl: string;
  /** A certificate that deliveries trust, for a receiver on localhost. */
  readonly certificate: { readonly cert: string; readonly key: string };
  /** With these, another process delivers webhooks of this system to loopback. */
  readonly laneSettings: Readonly<Record<string, string>>;
}

/** Prevents the demo data, whose workflows would run during a measurement. */
const NO_DEMO_DATA = JSON.stringify({ live: {}, sandbox: {}, other: {}, dashboard: { email: '' } });
const START_MS = 180_000;

/** A data folder without demo data, which the stack removes. */
export async function newDataFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'demo.json'), NO_DEMO_DATA);
  return folder;
}

/**
 * Starts the whole system and waits until it delivers; the stack ends it.
 * @param dataFolder of an earlier start. Default: a new one, which the stack removes.
 */
export async function startSystem(
  settings: Record<string, string>,
  stack: AsyncDisposableStack,
  dataFolder?: string,
): Promise<StartedSystem> {
  const folder = dataFolder ?? (await newDataFolder(stack));
  const [ops, temporal, ui, oidc] = await Promise.all(Array.from({ length: 4 }, () => findFreePort()));
  const environment = {
    LIVE_PORT: 0,
    SANDBOX_PORT: 0,
    GRPC_PORT: 0,
    DASHBOARD_PORT: 0,
    DEMO_RECEIVER_PORT: 0,

    OPS_PORT: ops!,
    TEMPORAL_PORT: temporal!,
    TEMPORAL_UI_PORT: ui!,
    OIDC_PORT: oidc!,
    DATA_DIR: folder,
    MALLOC_ARENA_MAX: 2,
    NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)),
  };
  const script = fileURLToPath(new URL('../../local/start.ts', import.meta.url));
  const child = spawn(process.execPath, ['--max-semi-space-size=8', script], {
    env: { ...process.env, ...stringsOf(environment), ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  stack.defer(async () => {
    child.kill('SIGINT');
    await ended;
  });
  await Promise.race([whenReady(`http://127.0.0.1:${ops}/readyz`), failed(ended)]);
  const { grpc } = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')) as {
    grpc: { baseUrl: string; token: string };
  };
  const pem = (end: string) => readFile(join(folder, `certificates/demo-receiver.${end}`), 'utf8');
  const certificate = { cert: await pem('pem'), key: await pem('key') };
  const { port, password } = JSON.parse(await readFile(join(folder, 'postgres.json'), 'utf8')) as {
    port: number;
    password: string;
  };
  const databaseUrl = `postgres://payments:${password}@127.0.0.1:${port}/payments`;
  const { keyRings } = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as {
    keyRings: { WEBHOOK_SECRET_KEYS: string };
  };
  const laneSettings = {
    WEBHOOK_SECRET_KEYS: keyRings.WEBHOOK_SECRET_KEYS,
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    WEBHOOK_EXTRA_CA: join(folder, 'certificates/demo-ca.pem'),
  };
  return {
    grpcUrl: grpc.baseUrl,
    token: grpc.token,
    pid: child.pid!,
    databaseUrl,
    certificate,
    laneSettings,
  };
}

const stringsOf = (values: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

async function whenReady(url: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  while (performance.now() < giveUpAt) {
    const answer = await fetch(url).catch(() => undefined);
    const { temporal } = answer?.ok ? ((await answer.json()) as { temporal?: string }) : {};
    if (temporal === 'up') return;
    await delay(200);
  }
  throw new Error(`the system was not ready within ${START_MS / 1_000} s`);
}

async function failed(ended: Promise<unknown>): Promise<never> {
  await ended;
  throw new Error('the system ended while it started');
}
