import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { DataFolder } from '../../local/data-folder.ts';
import { findFreePort } from '../../local/ports.ts';
import { type EmbeddedPostgres, startPostgres } from '../../local/postgres.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';
import type { LinkName, ProcessName } from './fault-schedule.ts';
import { type FaultyLink, openLink } from './faulty-link.ts';
import { KillableProcess } from './killable-process.ts';

/** A process of the system, as faults treat it. */
export interface Victim {
  kill(): Promise<void>;
  /** Resolves when it serves again. */
  start(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
}

/** The whole system as processes of its own, with a network of links between them. */
export interface System extends AsyncDisposable {
  readonly victims: Readonly<Record<ProcessName, Victim>>;
  readonly links: ReadonlyMap<LinkName, FaultyLink>;
  readonly temporal: TestTemporal;
  /** Past the links, for what is looked up in the end. */
  readonly databaseUrl: string;
  /** Of the internal port, over the publishers' link. */
  readonly servicesUrl: string;
  /** Of the sandbox, over the merchants' link. */
  readonly gatewayUrl: string;
  /** Of a caller who may publish, subscribe and reveal. */
  readonly token: string;
  readonly logFolder: string;
  /** Ends of serving processes that no fault brought about. */
  crashes(): string[];
}

/** Everything that fails fails for some seconds: many short waits, so that no delivery is exhausted by a fault. */
const SCHEDULE = ['0s', '500ms', '1s', '2s', '3s', ...Array(100).fill('4s')].join(',');
const TEAM_GRANTS = 'webhooks:read webhooks:write reveal keys';

/** Starts PostgreSQL (durable), Temporal with its state in a file, services, gateway and two workers. */
export async function startSystem(endpoints: ReadonlyMap<LinkName, number>): Promise<System> {
  await using stack = new AsyncDisposableStack();
  const path = await mkdtemp(join(tmpdir(), 'payments-reconciliation-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const folder = stack.adopt(DataFolder.open(path), (opened) => opened.close());
  const postgres = stack.adopt(await startPostgres({ folder, log: () => undefined }), (it) => it.stop());
  const temporal = stack.use(await startTemporal());
  const [rpcPort, sandboxPort] = [await findFreePort(), await findFreePort()];
  const links = new Map<LinkName, FaultyLink>();
  const link = async (name: LinkName, port: number) => {
    const opened = stack.use(await openLink(port));
    links.set(name, opened);
    return `127.0.0.1:${opened.port}`;
  };
  for (const [name, port] of endpoints) await link(name, port);
  const tokens = newTokens();
  const databaseAddress = await link('services to postgres', postgres.port);
  const program = (name: string, file: string, settings: Record<string, string>, readyLine: string) =>
    stack.use(
      new KillableProcess({
        ...{ name, file, readyLine, logFile: folder.file(`logs/${name}.log`) },
        settings: { HOST: '127.0.0.1', OPS_PORT: '0', ...loopbackSettings(), ...settings },
      }),
    );
  const services = program(
    'services',
    'services/main.ts',
    {
      ...{ GRPC_PORT: `${rpcPort}`, DATABASE_URL: withAddress(postgres.url, databaseAddress) },
      ...{ SERVICE_TOKENS: tokens.setting, WEBHOOK_SCHEDULE_SANDBOX: SCHEDULE },
      ...{ API_KEY_PEPPERS: newKeyRing(), WEBHOOK_SECRET_KEYS: newKeyRing(), CURSOR_KEYS: newKeyRing() },
    },
    'services are listening',
  );
  const gateway = program(
    'gateway',
    'gateway/main.ts',
    {
      ...{ LIVE_PORT: '0', SANDBOX_PORT: `${sandboxPort}`, SERVICE_TOKEN: tokens.gateway },
      SERVICES_URL: `http://${await link('gateway to services', rpcPort)}`,
    },
    'the public API is listening',
  );
  const worker = async (name: 'worker-1' | 'worker-2') =>
    program(
      name,
      'workflows/main.ts',
      {
        ...{ SERVICE_TOKEN: tokens.worker, LOG_LEVEL: 'info' },
        SERVICES_URL: `http://${await link(`${name} to services`, rpcPort)}`,
        TEMPORAL_ADDRESS: await link(`${name} to temporal`, Number(temporal.address.split(':')[1])),
      },
      'the worker is connected to Temporal',
    );
  const workers = [await worker('worker-1'), await worker('worker-2')] as const;
  const programs = [services, gateway, ...workers];
  for (const started of programs) await started.start();
  const servicesUrl = `http://${await link('publishers to services', rpcPort)}`;
  const gatewayUrl = `http://${await link('merchants to gateway', sandboxPort)}`;
  const owned = stack.move();
  return {
    victims: {
      ...{ services, gateway, 'worker-1': workers[0], 'worker-2': workers[1] },
      postgres: postgresVictim(postgres),
      temporal: temporalVictim(temporal),
    },
    ...{ links, temporal, servicesUrl, gatewayUrl, token: tokens.team },
    databaseUrl: postgres.url,
    logFolder: folder.file('logs'),
    crashes: () => programs.flatMap(({ crashes }) => crashes),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function newTokens() {
  const [worker, gateway, team] = [newToken(), newToken(), newToken()];
  const entry = (name: string, token: string, grants: string) =>
    `${name}|${createHash('sha256').update(token).digest('hex')}|${grants}`;
  const setting = [
    entry('worker', worker, [...WORKER_CALLER.grants].join(' ')),
    entry('gateway', gateway, [...GATEWAY_CALLER.grants].join(' ')),
    entry('team', team, TEAM_GRANTS),
  ].join(';');
  return { worker, gateway, team, setting };
}

const newToken = () => `mps_${randomBytes(24).toString('base64url')}`;
const newKeyRing = () => `v1:${randomBytes(32).toString('base64')}`;

function withAddress(url: string, address: string): string {
  const changed = new URL(url);
  changed.host = address;
  return changed.href;
}

/** Its supervisor starts it again by itself. */
function postgresVictim(postgres: EmbeddedPostgres): Victim {
  return {
    async kill() {
      signalTree(postgres.pid, 'SIGKILL');
    },
    async start() {
      for (;;) {
        const client = new pg.Client({ connectionString: postgres.url, connectionTimeoutMillis: 2_000 });
        client.on('error', () => undefined);
        const isUp = await client.connect().then(
          () => true,
          () => false,
        );
        await client.end().catch(() => undefined);
        if (isUp) return;
        await delay(50);
      }
    },
    signal: (signal) => signalTree(postgres.pid, signal),
  };
}

function temporalVictim(temporal: TestTemporal): Victim {
  return {
    kill: () => temporal.kill(),
    start: () => temporal.start(),
    signal: (signal) => signalTree(temporal.pid, signal),
  };
}

/** The process first, so that it does not start children anew, and its children: every backend of PostgreSQL. */
function signalTree(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  const children = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child!);
  for (const each of [pid, ...children]) {
    try {
      process.kill(each, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
