import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { DataFolder } from '../../local/data-folder.ts';
import { findFreePort } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';
import type { EndpointName, LinkName, ProcessName } from './fault-schedule.ts';
import { type FaultyLink, openLink } from './faulty-link.ts';
import { KillableProcess } from './killable-process.ts';
import { postgresVictim, temporalVictim, type Victim } from './victims.ts';

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
  /** Ends of serving processes that no fault brought about. */
  crashes(): string[];
}

/** Everything that fails fails for some seconds: many short waits, so that no delivery is exhausted by a fault. */
const SCHEDULE = ['0s', '500ms', '1s', '2s', '3s', ...Array(100).fill('4s')].join(',');
const TEAM_GRANTS = 'webhooks:read webhooks:write reveal keys';

/** Starts PostgreSQL (durable), Temporal with its state in a file, services, gateway and two workers. */
export async function startSystem(
  endpoints: ReadonlyMap<EndpointName, { readonly port: number }>,
): Promise<System> {
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
  for (const [name, { port }] of endpoints) await link(`workers to ${name}`, port);
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
  const worker = async (name: 'worker-1' | 'worker-2') => {
    const servicesAddress = await link(`${name} to services`, rpcPort);
    const temporalAddress = await link(`${name} to temporal`, Number(temporal.address.split(':')[1]));
    const addresses = { SERVICES_URL: `http://${servicesAddress}`, TEMPORAL_ADDRESS: temporalAddress };
    const settings = { SERVICE_TOKEN: tokens.worker, ...addresses };
    return program(name, 'workflows/main.ts', settings, 'the worker has connected to Temporal');
  };
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
