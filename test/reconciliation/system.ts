import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { DataFolder } from '../../local/data-folder.ts';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';
import { inTest, PUBLISH_GRANTS } from '../../services/platform/rpc/grants.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { newServiceToken } from '../support/secrets.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';
import type { EndpointName, LANE_OWNERS, LinkName, ProcessName } from './fault-schedule.ts';
import { type FaultyLink, openLink } from './faulty-link.ts';
import { KillableProcess } from './killable-process.ts';
import type { FaultWindow } from './records.ts';
import { postgresVictim, temporalVictim, type Victim } from './victims.ts';

type LaneOwner = (typeof LANE_OWNERS)[number];

/** The whole system as separate processes, with a network of links between them. */
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
  /** When another process took lanes of a process that did not renew its lease, for whatever reason. */
  lostLeases(): FaultWindow[];
  /** Exits of serving processes that no fault caused. */
  crashes(): string[];
}

/** Everything that fails fails for some seconds: many short waits, so that no delivery is exhausted by a fault. */
const SCHEDULE = ['0s', '500ms', '1s', '2s', '3s', ...Array(100).fill('4s')].join(',');
/** As in lane-leases.ts. */
const LEASE_MS = 4_000;
const ALL_AREAS = 'refunds,catalog,funds,advances,webhooks,webhook-lanes,api-keys,accounts';
const TEAM_GRANTS = [
  ...['webhooks:read', 'webhooks:write', 'subscriptions', 'reveal', 'keys'],
  ...PUBLISH_GRANTS.map(inTest),
];

/**
 * Starts PostgreSQL (durable), Temporal with its state in a file, services, which send webhooks too, two processes that only
 * send webhooks, gateway and worker.
 * @param bundles a folder with the bundled workflow code. Default: bundled now.
 */
export async function startSystem(
  endpoints: ReadonlyMap<EndpointName, { readonly port: number }>,
  bundles?: string,
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
  for (const [name, { port }] of endpoints) await link(`lanes to ${name}`, port);
  const forWorker = newServiceToken('worker', WORKER_CALLER.grants);
  const forGateway = newServiceToken('gateway', GATEWAY_CALLER.grants);
  const forTeam = newServiceToken('team', TEAM_GRANTS);
  const program = (name: string, file: string, settings: Record<string, string>, readyLine: string) =>
    stack.use(
      new KillableProcess({
        name,
        file,
        readyLine,
        logFile: folder.file(`logs/${name}.log`),
        settings: { HOST: '127.0.0.1', OPS_PORT: '0', ...loopbackSettings(), ...settings },
      }),
    );
  const keys = {
    ...newKeyRings(),
    SERVICE_TOKENS: [forWorker, forGateway, forTeam].map(({ entry }) => entry).join(';'),
    WEBHOOK_SCHEDULE_SANDBOX: SCHEDULE,
  };
  const serving = async (name: LaneOwner, areas: string, port: number) => {
    const DATABASE_URL = withAddress(postgres.url, await link(`${name} to postgres`, postgres.port));
    const settings = { ...keys, DATABASE_URL, SERVICES: areas, GRPC_PORT: `${port}` };
    return program(name, 'services/main.ts', settings, 'services are listening');
  };
  const services = await serving('services', ALL_AREAS, rpcPort);
  const lanes = [
    await serving('lanes-1', 'webhook-lanes', 0),
    await serving('lanes-2', 'webhook-lanes', 0),
  ] as const;
  const gateway = program(
    'gateway',
    'gateway/main.ts',
    {
      LIVE_PORT: '0',
      SANDBOX_PORT: `${sandboxPort}`,
      SERVICE_TOKEN: forGateway.token,
      SERVICES_URL: `http://${await link('gateway to services', rpcPort)}`,
    },
    'the public API is listening',
  );
  const servicesAddress = await link('worker to services', rpcPort);
  const temporalAddress = await link('worker to temporal', Number(temporal.address.split(':')[1]));
  // A killed worker is started again and again.
  const workflowBundles = bundles ?? folder.file('workflow-bundles');
  if (!bundles) await promisify(execFile)(process.execPath, ['workflows/write-bundles.ts', workflowBundles]);
  const worker = program(
    'worker',
    'workflows/main.ts',
    {
      SERVICES_URL: `http://${servicesAddress}`,
      TEMPORAL_ADDRESS: temporalAddress,
      SERVICE_TOKEN: forWorker.token,
      WORKFLOW_BUNDLE_DIR: workflowBundles,
    },
    'the worker has connected to Temporal',
  );
  const programs = [services, ...lanes, gateway, worker];
  for (const started of programs) await started.start();
  const servicesUrl = `http://${await link('publishers to services', rpcPort)}`;
  const gatewayUrl = `http://${await link('merchants to gateway', sandboxPort)}`;
  const owned = stack.move();
  return {
    victims: {
      services,
      gateway,
      worker,
      'lanes-1': lanes[0],
      'lanes-2': lanes[1],
      postgres: postgresVictim(postgres),
      temporal: temporalVictim(temporal),
    },
    links,
    temporal,
    servicesUrl,
    gatewayUrl,
    token: forTeam.token,
    databaseUrl: postgres.url,
    lostLeases: () => [services, ...lanes].flatMap(lostLeasesOf),
    crashes: () => programs.flatMap(({ crashes }) => crashes),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** From when its lease could no longer have been renewed, and a pause of the same length before. */
function lostLeasesOf(owner: KillableProcess): FaultWindow[] {
  return owner.loggedAt('lanes were taken by another process').map((to) => ({
    kind: 'lease lost',
    target: owner.name,
    from: to - 2 * LEASE_MS,
    to,
  }));
}

function withAddress(url: string, address: string): string {
  const changed = new URL(url);
  changed.host = address;
  return changed.href;
}
