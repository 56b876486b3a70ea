import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, vi } from 'vitest';
import { DataFolder } from '../../../local/data-folder.ts';
import { newKeyRings } from '../../../local/generated-secrets.ts';
import { findFreePort } from '../../../local/ports.ts';
import { type EmbeddedPostgres, startPostgres } from '../../../local/postgres/postgres-server.ts';
import { ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { bearer } from '../../../services/platform/rpc/remote-transport.ts';
import { ALL_SCOPES } from '../../gateway/gateway-harness.ts';
import { type Answer, call } from '../../gateway/http-call.ts';
import { type FaultyLink, openLink } from '../../reconciliation/faulty-link.ts';
import { newWrite } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { newServiceToken } from '../../support/secrets.ts';
import { createTestNamespace, testWorkflowBundles } from '../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';
import { SandboxMerchant } from '../sandbox-merchant.ts';

const START_MS = 60_000;

interface Started {
  readonly stack: AsyncDisposableStack;
  readonly folder: DataFolder;
  readonly canMount: boolean;
  readonly link: FaultyLink;
  /** The PostgreSQL that runs, or ran last. */
  readonly server: { postgres: EmbeddedPostgres };
}

/** The deviation of each process's clock, in milliseconds. */
export interface Clocks {
  readonly gateway: number;
  readonly services: number;
  readonly lanes: number;
  readonly worker: number;
}

const SHIFTED_CLOCK = new URL('../../support/shifted-clock.ts', import.meta.url).href;
const withClock = (shiftMs: number) => ({
  NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
  CLOCK_SHIFT_MS: `${shiftMs}`,
});
const DATABASE_NAME = 'postgres.payments.test';
const AREAS = 'refunds,catalog,funds,advances,webhooks,api-keys,accounts';

/** A gateway and services, as separate processes, over a PostgreSQL that a test stops, slows down and replaces. */
export class DatabaseClients implements AsyncDisposable {
  /** Of the PostgreSQL that was started first. */
  readonly folder: DataFolder;
  /** As root: its disk is small and for it alone, and the services look up its name in `hosts`. */
  readonly canMount: boolean;
  /** Between the services and PostgreSQL. */
  readonly link: FaultyLink;
  readonly processes: Program[] = [];
  readonly #server: Started['server'];
  readonly #caller = newServiceToken('all');
  #stack: AsyncDisposableStack;
  #transport: Transport | undefined;
  readonly #ports = { rpc: 0, services: 0, gateway: 0, sandbox: 0 };

  private constructor({ stack, folder, canMount, link, server }: Started) {
    this.#stack = stack;
    this.folder = folder;
    this.canMount = canMount;
    this.link = link;
    this.#server = server;
  }

  /** @param clocks webhooks are then sent by their own process, and retried soon by a worker. Default: all clocks are right. */
  static async start(clocks?: Clocks): Promise<DatabaseClients> {
    await using stack = new AsyncDisposableStack();
    const path = mkdtempSync(join(tmpdir(), 'payments-failures-'));
    stack.defer(() => rmSync(path, { recursive: true, force: true }));
    const canMount = limitDisk(path, stack);
    const folder = stack.adopt(DataFolder.open(path), (opened) => opened.close());
    const postgres = await startPostgres({ folder, log: () => undefined, throwaway: true });
    const server = { postgres };
    stack.defer(() => server.postgres.stop());
    const link = stack.use(await openLink(postgres.port));
    const system = new DatabaseClients({ stack, folder, canMount, link, server });
    await system.#startProcesses(clocks);
    system.#stack = stack.move();
    return system;
  }

  /** Holds the resources that are used until the end. */
  get stack(): AsyncDisposableStack {
    return this.#stack;
  }

  get postgres(): EmbeddedPostgres {
    return this.#server.postgres;
  }

  /** Again, after `postgres.stop()`. */
  async startPostgres(): Promise<void> {
    const options = { folder: this.folder, log: () => undefined, throwaway: true };
    this.#server.postgres = await startPostgres(options);
  }

  /** Whether the name of the database can be resolved; for `canMount` alone. */
  knowName(isKnown: boolean): void {
    const known = isKnown ? [`127.0.0.1 ${DATABASE_NAME}`] : [];
    writeFileSync(this.folder.file('hosts'), ['127.0.0.1 localhost', ...known, ''].join('\n'));
  }

  /** A merchant with an endpoint, and their API key. @param receiver default: answers with success. */
  async merchant(receiver?: Receiver) {
    receiver ??= await startReceiver();
    this.stack.use(receiver);
    const merchant = await SandboxMerchant.subscribe(this.transport, receiver);
    const { key } = await createClient(ApiKeyService, this.transport).issueApiKey({
      ...newWrite(merchant.tenant),
      name: 'Shop',
      scopes: [...ALL_SCOPES],
    });
    return { merchant, key, receiver };
  }

  /** A request to the sandbox. */
  call(path: string, options: Parameters<typeof call>[2]): Promise<Answer> {
    return call(this.#ports.sandbox, path, options);
  }

  /** /readyz of both processes. */
  async readiness(): Promise<{ readonly services: Answer; readonly gateway: Answer }> {
    const [services, gateway] = await Promise.all([
      call(this.#ports.services, '/readyz'),
      call(this.#ports.gateway, '/readyz'),
    ]);
    return { services, gateway };
  }

  get transport(): Transport {
    this.#transport ??= createGrpcTransport({
      baseUrl: `http://127.0.0.1:${this.#ports.rpc}`,
      interceptors: [bearer(this.#caller.token)],
    });
    return this.#transport;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stack.disposeAsync();
  }

  async #startProcesses(clocks?: Clocks): Promise<void> {
    const ports = this.#ports;
    for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await findFreePort();
    const databaseUrl = new URL(this.postgres.url);
    databaseUrl.port = `${this.link.port}`;
    if (this.canMount) databaseUrl.hostname = DATABASE_NAME;
    this.knowName(true);
    const keys = newKeyRings();
    const sending = {
      DATABASE_URL: databaseUrl.href,
      WEBHOOK_SECRET_KEYS: keys.WEBHOOK_SECRET_KEYS,
      ...loopbackSettings(),
      ...(clocks && { WEBHOOK_SCHEDULE_SANDBOX: '0s,1s,5s' }),
    };
    await this.#run('services/main.ts', 'services are listening', {
      ...sending,
      GRPC_PORT: `${ports.rpc}`,
      OPS_PORT: `${ports.services}`,
      ...keys,
      SERVICE_TOKENS: this.#caller.entry,
      ...(clocks && { SERVICES: AREAS, ...withClock(clocks.services) }),
    });
    const calling = { SERVICES_URL: `http://127.0.0.1:${ports.rpc}`, SERVICE_TOKEN: this.#caller.token };
    if (clocks) {
      const settings = { ...sending, OPS_PORT: '0', ...withClock(clocks.lanes) };
      await this.#run('services/webhook-lanes.ts', 'webhook lanes are running', settings);
      const { address, namespace } = this.#stack.use(await createTestNamespace());
      await this.#run('workflows/main.ts', 'the worker has connected to Temporal', {
        ...calling,
        ...testWorkflowBundles(),
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        OPS_PORT: '0',
        ...withClock(clocks.worker),
      });
    }
    await this.#run('gateway/main.ts', 'the public API is listening', {
      ...calling,
      LIVE_PORT: '0',
      SANDBOX_PORT: `${ports.sandbox}`,
      OPS_PORT: `${ports.gateway}`,
      ...(clocks && withClock(clocks.gateway)),
    });
  }

  async #run(file: string, readyLine: string, settings: Record<string, string>): Promise<void> {
    const hosts = this.folder.file('hosts');
    const via = ['unshare', '-m', 'sh', '-c', `mount --bind ${hosts} /etc/hosts && exec "$@"`, 'sh'];
    const all = { PATH: process.env.PATH, HOST: '127.0.0.1', ...settings };
    const started = this.stack.use(startProgram(file, all, this.canMount ? { via } : {}));
    this.processes.push(started);
    await vi.waitFor(() => expect(started.logged()).toContain(readyLine), { timeout: START_MS });
  }
}

/** Mounts a small file system on a folder. @returns whether it could, as only root can. */
function limitDisk(path: string, stack: AsyncDisposableStack): boolean {
  if (process.getuid?.() !== 0 || spawnSync('unshare', ['-m', 'true']).status !== 0) return false;
  const options = ['-t', 'tmpfs', '-o', 'size=512m', 'tmpfs', path];
  if (spawnSync('mount', options, { stdio: 'ignore' }).status !== 0) return false;
  stack.defer(() => void spawnSync('umount', ['-l', path]));
  return true;
}
