import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { vi } from 'vitest';
import { findFreePort } from '../../../local/ports.ts';
import { bearer } from '../../../services/platform/rpc/remote-transport.ts';
import { type Container, readComposeFile } from '../../support/compose-file.ts';
import { createTestDatabase } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { newServiceToken } from '../../support/secrets.ts';
import { query } from '../../support/sql.ts';
import type { TestTemporal } from '../../support/temporal.ts';
import { startTemporalOnPostgres, type TemporalTls } from '../../support/temporal-on-postgres.ts';
import { type Backend, isReady, ReadyBackends, startBalancer } from './balancer.ts';
import { copyImageFiles, type ImageFiles } from './image-files.ts';
import { secretsIn } from './secrets.ts';

/** The containers that may have several copies. */
export type Role = 'services' | 'gateway' | 'worker' | 'webhook-lanes';

/** One process of a role. */
export interface RoleProcess extends Program {
  readonly role: Role;
  readonly image: ImageFiles;
  readonly backend: Backend;
}

/** How long a process keeps serving after SIGTERM. */
export const STOP_DELAY_MS = 1_000;
const READY = { timeout: 120_000, interval: 100 };
/** The passwords of compose's containers, to check what each process must not see. */
const PASSWORDS = {
  webhook_lanes: randomBytes(16).toString('hex'),
  rate_limits: randomBytes(16).toString('hex'),
} as const;

/**
 * The containers of docker-compose.yml as processes, with the files of the image: their commands and environments, except
 * for addresses of this machine, and receivers on it. Temporal keeps its state in the same PostgreSQL.
 */
export class SeparateSystem implements AsyncDisposable {
  readonly gateways: ReadyBackends;
  readonly services: ReadyBackends;
  readonly running = new Set<RoleProcess>();
  readonly image: ImageFiles;
  readonly temporal: TestTemporal;
  /** The secrets of all processes. */
  readonly secrets = new Set<string>();
  /** What all processes have logged. */
  readonly logs: string[] = [];
  /** As its owner. */
  readonly databaseUrl: string;
  /** To the services through the load balancer, as another team calls them. It repeats no call. */
  readonly transport: Transport;
  /** The dashboard of all gateways, through a load balancer. */
  readonly dashboardUrl: string;
  readonly #containers: Readonly<Record<string, Container>>;
  readonly #overrides: Readonly<Record<Role, Readonly<Record<string, string>>>>;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    given: Pick<SeparateSystem, 'image' | 'temporal' | 'transport' | 'databaseUrl' | 'dashboardUrl'> & {
      containers: Readonly<Record<string, Container>>;
      overrides: Readonly<Record<Role, Readonly<Record<string, string>>>>;
      services: ReadyBackends;
      gateways: ReadyBackends;
      stack: AsyncDisposableStack;
    },
  ) {
    this.image = given.image;
    this.temporal = given.temporal;
    this.databaseUrl = given.databaseUrl;
    this.transport = given.transport;
    this.dashboardUrl = given.dashboardUrl;
    this.services = given.services;
    this.gateways = given.gateways;
    this.#containers = given.containers;
    this.#overrides = given.overrides;
    this.#stack = given.stack;
  }

  /**
   * PostgreSQL, Temporal and the load balancers; no process of a role yet.
   * @param more variables of .env, which an operator adds.
   * @param options.security the files of Temporal, and the settings with which a worker is accepted. Default: no TLS.
   * @param options.image the files of the processes, and of the migrations. Default: those of this release.
   * @param options.grants of the caller of `transport`. Default: all.
   */
  static async open(
    more: Readonly<Record<string, string>> = {},
    {
      security,
      image: given,
      grants,
    }: {
      readonly security?: { readonly tls: TemporalTls; readonly worker: Readonly<Record<string, string>> };
      readonly image?: ImageFiles;
      readonly grants?: readonly string[];
    } = {},
  ): Promise<SeparateSystem> {
    await using opening = new AsyncDisposableStack();
    const image = opening.use(given ?? (await copyImageFiles()));
    const temporal = opening.use(await startTemporalOnPostgres(security));
    const { containers, env } = await readComposeFile('docker-compose.yml', more);
    const databaseUrl = await createTestDatabase('template0');
    await runToEnd(image, containers.migrate!, { DATABASE_URL: databaseUrl });
    await createRoles(image.folder, databaseUrl);
    const [services, gateways] = [new ReadyBackends(), new ReadyBackends()];
    const balancers = [
      await startBalancer(services),
      await startBalancer(gateways, 'dashboardPort'),
    ] as const;
    for (const each of [...balancers, services, gateways]) opening.defer(() => each.close());
    const [servicesUrl, dashboardUrl] = balancers.map(({ port }) => `http://127.0.0.1:${port}`) as [
      string,
      string,
    ];
    const { token, entry } = newServiceToken('test', grants);
    const addresses = { containers, databaseUrl, servicesUrl, dashboardUrl, temporal, entry };
    const overrides = overridesOf(addresses, security?.worker);
    const transport = createConnectTransport({
      baseUrl: servicesUrl,
      httpVersion: '1.1',
      // A stopping process closes connections that have been idle for STOP_DELAY: close them before.
      nodeOptions: { agent: new Agent({ keepAlive: true, timeout: STOP_DELAY_MS / 2 }) },
      interceptors: [bearer(token)],
    });
    const stack = opening.move();
    const parts = { image, databaseUrl, dashboardUrl, temporal, transport, containers, overrides };
    const system = new SeparateSystem({ ...parts, services, gateways, stack });
    for (const secret of [token, ...secretsIn(asText(env))]) system.secrets.add(secret);
    return system;
  }

  /** Runs the container that migrates the database. */
  async migrate(image: ImageFiles = this.image): Promise<void> {
    await runToEnd(image, this.#containers.migrate!, { DATABASE_URL: this.databaseUrl });
  }

  /**
   * Starts a process and waits until it is ready.
   * @param image the files of another release.
   */
  async start(role: Role, image: ImageFiles = this.image): Promise<RoleProcess> {
    const process = await this.#startOnFreePorts(role, image);
    const { healthcheck } = this.#containers[role]!;
    // The container's own health check starts Node, so it only runs when it must succeed.
    const settings = { OPS_PORT: `${process.backend.opsPort}` };
    await runToEnd(image, { command: healthcheck!.test.slice(1) }, settings);
    this.#behind(role)?.add(process.backend);
    await vi.waitFor(() => {
      if (this.#behind(role)?.count === 0) throw new Error('not ready');
    }, READY);
    return process;
  }

  /** Tries again when a port that was free has been taken since. */
  async #startOnFreePorts(role: Role, image: ImageFiles): Promise<RoleProcess> {
    for (;;) {
      const process = await this.#spawn(role, image);
      this.running.add(process);
      await vi.waitFor(async () => {
        if (process.child.exitCode === null && !(await isReady(process.backend)))
          throw new Error('not ready');
      }, READY);
      if (process.child.exitCode === null) return process;
      this.running.delete(process);
      const { stderr } = await process.exited;
      if (!stderr.includes('EADDRINUSE')) throw new Error(stderr);
    }
  }

  async #spawn(role: Role, image: ImageFiles): Promise<RoleProcess> {
    const { command, environment } = this.#containers[role]!;
    const [port, opsPort, dashboardPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const settings = {
      ...environment,
      HOST: '127.0.0.1',
      OPS_PORT: opsPort,
      DASHBOARD_PORT: dashboardPort,
      GRPC_PORT: port,
      LIVE_PORT: await findFreePort(),
      SANDBOX_PORT: port,
      ...this.#overrides[role],
      LOG_LEVEL: 'debug',
    };
    for (const secret of secretsIn(asText(settings))) this.secrets.add(secret);
    const program = startIn(image, command!, settings);
    program.child.stdout!.on('data', (chunk: string) => this.logs.push(chunk));
    return { role, image, backend: { port, opsPort, dashboardPort }, ...program };
  }

  /** Returns one of the running processes of a role. */
  one(role: Role): RoleProcess {
    return [...this.running].find((process) => process.role === role)!;
  }

  /** Tells a process to stop, and waits for its end. */
  async stop(process: RoleProcess) {
    process.child.kill('SIGTERM');
    const ended = await process.exited;
    this.#forget(process);
    return ended;
  }

  async kill(process: RoleProcess): Promise<void> {
    await process.kill();
    this.#forget(process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.running].map((process) => this.kill(process)));
    await this.#stack.disposeAsync();
  }

  #forget(process: RoleProcess): void {
    this.running.delete(process);
    this.#behind(process.role)?.remove(process.backend);
  }

  #behind(role: Role): ReadyBackends | undefined {
    return { services: this.services, gateway: this.gateways, worker: undefined, 'webhook-lanes': undefined }[
      role
    ];
  }
}

interface Addresses {
  readonly containers: Readonly<Record<string, Container>>;
  readonly databaseUrl: string;
  readonly servicesUrl: string;
  readonly dashboardUrl: string;
  readonly temporal: TestTemporal;
  /** Of one more caller, in SERVICE_TOKENS. */
  readonly entry: string;
}

/**
 * What is different from the containers: addresses, one more caller, receivers on this machine, shorter waits, and these
 * settings of the worker.
 */
function overridesOf(
  { containers, databaseUrl, temporal, entry, ...urls }: Addresses,
  worker: Readonly<Record<string, string>> = {},
) {
  const loopback = { ...loopbackSettings(), WEBHOOK_SCHEDULE_SANDBOX: '0s,200ms,1s,2s,5s,10s,30s' };
  const asRole = (role: keyof typeof PASSWORDS) => {
    const url = new URL(databaseUrl);
    Object.assign(url, { username: role, password: PASSWORDS[role] });
    return url.href;
  };
  const SERVICE_TOKENS = `${containers.services!.environment!.SERVICE_TOKENS};${entry}`;
  const STOP_DELAY = `${STOP_DELAY_MS}ms`;
  return {
    services: { DATABASE_URL: databaseUrl, SERVICE_TOKENS, STOP_DELAY, ...loopback },
    gateway: {
      SERVICES_URL: urls.servicesUrl,
      PUBLIC_URL_DASHBOARD: urls.dashboardUrl,
      RATE_LIMIT_STORE: asRole('rate_limits'),
      RATE_LIMIT_SANDBOX: '10000',
      RATE_LIMIT_ADDRESS: '10000',
      STOP_DELAY,
    },
    worker: { SERVICES_URL: urls.servicesUrl, TEMPORAL_ADDRESS: temporal.address, ...worker },
    'webhook-lanes': { DATABASE_URL: asRole('webhook_lanes'), ...loopback },
  };
}

/** As compose's container `database-roles` does. */
async function createRoles(folder: string, databaseUrl: string): Promise<void> {
  for (const file of ['services/webhooks/lanes/database-role.sql', 'gateway/rate-limits/database-role.sql'])
    await query(databaseUrl, await readFile(join(folder, file), 'utf8'));
  for (const [role, password] of Object.entries(PASSWORDS))
    await query(databaseUrl, `alter role ${role} password '${password}'`);
}

/** Runs a container's command with the files of the image, and with its environment alone. */
function startIn({ folder, env }: ImageFiles, [, ...args]: readonly string[], settings: object): Program {
  // No home folder that can be written to: a container's file system is read-only except for /tmp.
  return startProgram(args, { ...env, HOME: '/dev/null', ...asText(settings) }, { cwd: folder });
}

const asText = (settings: object): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));

async function runToEnd(
  image: ImageFiles,
  { command, environment }: Pick<Container, 'command' | 'environment'>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { exitCode, stderr } = await startIn(image, command!, { ...environment, ...settings }).exited;
  if (exitCode !== 0) throw new Error(`${command!.join(' ')} ended with ${exitCode}: ${stderr}`);
}
