import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { credentials } from '@grpc/grpc-js';
import { vi } from 'vitest';
import { newKeyRings } from '../../../local/generated-secrets.ts';
import { findFreePort } from '../../../local/ports.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { openTlsFiles } from '../../../services/platform/process/tls-files.ts';
import { ALL_GRANTS } from '../../../services/platform/rpc/grants.ts';
import { requestOptions } from '../../../services/platform/rpc/services-agent.ts';
import { ServicesConnector } from '../../../services/platform/rpc/services-connector.ts';
import { readComposeFile } from '../../support/compose-file.ts';
import { GrpcJsClient } from '../../support/grpc-js-transport.ts';
import { createTestDatabase } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { type Program, startProgram } from '../../support/program.ts';
import type { TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace, testWorkflowBundles } from '../../support/temporal-namespace.ts';
import { CertificateFolder, uriOf } from './certificate-folder.ts';

export type Protocol = 'grpc' | 'connect';

const READY = { timeout: 60_000, interval: 50 };
const ROLES = ['services', 'gateway', 'worker'] as const;
type Role = (typeof ROLES)[number];

/** Services, gateway and worker as processes that authenticate only with certificates: no process has a token. */
export class MutualTlsSystem implements AsyncDisposable {
  readonly certificates: CertificateFolder;
  readonly baseUrl: string;
  readonly sandboxPort: number;
  readonly dashboardUrl: string;
  readonly processes: Readonly<Record<Role, Program>>;
  readonly opsUrls: Readonly<Record<Role, string>>;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    given: Pick<
      MutualTlsSystem,
      'certificates' | 'baseUrl' | 'sandboxPort' | 'dashboardUrl' | 'processes' | 'opsUrls'
    > & {
      stack: AsyncDisposableStack;
    },
  ) {
    this.certificates = given.certificates;
    this.baseUrl = given.baseUrl;
    this.sandboxPort = given.sandboxPort;
    this.dashboardUrl = given.dashboardUrl;
    this.processes = given.processes;
    this.opsUrls = given.opsUrls;
    this.#stack = given.stack;
  }

  static async start(): Promise<MutualTlsSystem> {
    await using stack = new AsyncDisposableStack();
    const certificates = stack.use(await CertificateFolder.create());
    await certificates.issue('test', { names: [uriOf('test')], holder: 'client' });
    const temporal = stack.use(await createTestNamespace());
    const [rpcPort, sandboxPort, dashboardPort] = [
      await findFreePort(),
      await findFreePort(),
      await findFreePort(),
    ];
    const baseUrl = `https://localhost:${rpcPort}`;
    const opsPorts = {
      services: await findFreePort(),
      gateway: await findFreePort(),
      worker: await findFreePort(),
    };
    const containers = await securedContainers(certificates);
    const settings: Record<Role, Record<string, string>> = {
      services: {
        GRPC_PORT: `${rpcPort}`,
        ...(await servicesSettings(containers.services.RPC_TLS_CALLERS!)),
      },
      gateway: {
        SERVICES_URL: baseUrl,
        SANDBOX_PORT: `${sandboxPort}`,
        LIVE_PORT: `${await findFreePort()}`,
        DASHBOARD_PORT: `${dashboardPort}`,
        OIDC_ISSUER: 'https://issuer.example',
        RATE_LIMIT_SANDBOX: '10000',
      },
      worker: { SERVICES_URL: baseUrl, ...temporalSettings(temporal), ...testWorkflowBundles() },
    };
    const start = (role: Role) =>
      stack.use(
        startProgram(
          { services: 'services/main.ts', gateway: 'gateway/main.ts', worker: 'workflows/main.ts' }[role],
          { ...containers[role], OPS_PORT: `${opsPorts[role]}`, ...settings[role] },
        ),
      );
    const processes = { services: start('services'), gateway: start('gateway'), worker: start('worker') };
    const opsUrls = Object.fromEntries(
      ROLES.map((role) => [role, `http://127.0.0.1:${opsPorts[role]}`]),
    ) as Record<Role, string>;
    await Promise.all(
      ROLES.map((role) =>
        vi.waitFor(async () => {
          const { ok } = await fetch(`${opsUrls[role]}/readyz`);
          if (!ok) throw new Error(`${role} is not ready: ${processes[role].logged()}`);
        }, READY),
      ),
    );
    return new MutualTlsSystem({
      certificates,
      baseUrl,
      sandboxPort,
      dashboardUrl: `http://127.0.0.1:${dashboardPort}`,
      processes,
      opsUrls,
      stack: stack.move(),
    });
  }

  /** A client with a certificate of the folder, or none, that repeats no call. */
  transport(protocol: Protocol, name: string | undefined, baseUrl = this.baseUrl): Transport {
    const read = (file: string) => readFileSync(this.certificates.path(name!, file));
    const own = name === undefined ? undefined : { cert: read('tls.crt'), key: read('tls.key') };
    const nodeOptions = { ca: readFileSync(this.certificates.path('services', 'ca.crt')), ...own };
    if (protocol === 'connect') return createConnectTransport({ baseUrl, httpVersion: '1.1', nodeOptions });
    return createGrpcTransport({ baseUrl, nodeOptions });
  }

  /** The official gRPC client: it repeats calls that cross the end of a connection. */
  grpcJs(name: string): Transport {
    const read = (file: string) => readFileSync(this.certificates.path(name, file));
    const tls = credentials.createSsl(read('ca.crt'), read('tls.key'), read('tls.crt'));
    return this.#stack.use(new GrpcJsClient(this.baseUrl, undefined, tls)).transport;
  }

  /** The same as in our own processes: replaced files apply to new connections. */
  replaceableTransport(name: string): Transport {
    const paths = this.certificates.settings(name);
    const files = openTlsFiles(
      name,
      {
        caCertPath: paths.RPC_TLS_CA_CERT_PATH,
        certPath: paths.RPC_TLS_CERT_PATH,
        keyPath: paths.RPC_TLS_KEY_PATH,
      },
      createLogger('silent'),
    );
    this.#stack.defer(() => files.close());
    const nodeOptions = requestOptions(new ServicesConnector(this.baseUrl, { files }));
    return createConnectTransport({ baseUrl: this.baseUrl, httpVersion: '1.1', nodeOptions });
  }

  /** How often a process has started to use replaced files of this name. */
  replacements(role: Role, files = 'rpc'): number {
    const lines = this.processes[role]
      .logged()
      .split('\n')
      .filter((line) => line.includes('have been replaced'));
    return lines.filter((line) => JSON.parse(line).files === files).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** What docker-compose.tls.yml adds to the environments, with its folders of certificates. */
async function securedContainers(certificates: CertificateFolder) {
  const { containers } = await readComposeFile('docker-compose.tls.yml');
  const entries = ROLES.map((role) => {
    const { environment, volumes } = containers[role]!;
    const mounts = volumes!.map((volume) => volume.split(':'));
    const values = Object.entries(environment!).map(([name, value]) => {
      const [from, to] = mounts.find(([, inside]) => value.startsWith(`${inside}/`)) ?? [];
      if (!from || !to) return [name, value];
      return [name, certificates.path(basename(from), value.slice(to.length + 1))];
    });
    return [role, Object.fromEntries(values)];
  });
  return Object.fromEntries(entries) as Record<Role, Record<string, string>>;
}

/** @param ownCallers the callers of docker-compose.tls.yml. */
async function servicesSettings(ownCallers: string): Promise<Record<string, string>> {
  return {
    DATABASE_URL: await createTestDatabase(),
    ...newKeyRings(),
    WEBHOOK_SCHEDULE_SANDBOX: `0s${',200ms'.repeat(50)}`,
    RPC_TLS_CALLERS: [
      ownCallers,
      `test|${uriOf('test')}|${ALL_GRANTS.join(' ')}`,
      `reader|${uriOf('reader')}|refunds:read`,
    ].join(';'),
    ...loopbackSettings(),
  };
}

const temporalSettings = ({ address, namespace }: TestNamespace) => ({
  TEMPORAL_ADDRESS: address,
  TEMPORAL_NAMESPACE: namespace,
});
