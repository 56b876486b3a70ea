import { parseArgs } from 'node:util';
import { type Config, ConfigError, KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { allocateInYoungGeneration } from '../services/platform/process/garbage-collection.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import { startTracing } from '../services/platform/tracing/start-tracing.ts';
import { stopTracing } from '../services/platform/tracing/tracing.ts';
import { DataFolder } from './data-folder.ts';
import { CONNECTOR_CALLER, type DemoConnector, startDemoConnector } from './demo/connector/demo-connector.ts';
import { FULL_SIZE, SMALL_SIZE } from './demo/data/demo-tenant.ts';
import { loadDemoCertificate } from './demo/demo-certificate.ts';
import { type DemoAccess, topUpDemoData, writeDemoData } from './demo/demo-data.ts';
import { DEMO_FILE, type DemoFile } from './demo/demo-file.ts';
import { startProviderReports } from './demo/demo-provider-reports.ts';
import { startDemoReceiver } from './demo/demo-receiver.ts';
import { DemoSignIn } from './demo/demo-sign-in.ts';
import { loadGeneratedSecrets } from './generated-secrets.ts';
import { LOCAL_CALLER, localConfig } from './local-config.ts';
import { type LocalSystem, startLocalSystem } from './local-system.ts';
import { assertPortsFree } from './ports.ts';
import { assertDatabaseReachable } from './postgres/external-database.ts';
import { startPostgres } from './postgres/postgres-server.ts';
import { stopOrphans } from './processes/tracked-process.ts';
import { settingsHelp } from './settings-table.ts';
import { StartError } from './start-error.ts';
import { embeddedPorts, TemporalServer } from './temporal/temporal-server.ts';

const LOG_FILE = 'logs/payments.log';
const CONNECTOR_FILE = 'demo-connector.db';
const LISTENER_PORTS = ['LIVE_PORT', 'SANDBOX_PORT', 'GRPC_PORT', 'OPS_PORT', 'DASHBOARD_PORT'] as const;

const print = (line: string) => console.log(line);
const OPTIONS = parseOptions();

/** Ends the process with one line that names an option or argument that does not exist. */
function parseOptions() {
  try {
    return parseArgs({ options: { help: { type: 'boolean' }, 'small-demo-data': { type: 'boolean' } } })
      .values;
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}

/** `npm start`: the whole system in one process, with its own PostgreSQL and Temporal server. */
async function start(stack: AsyncDisposableStack): Promise<void> {
  allocateInYoungGeneration();
  // Reports faulty settings before anything is created.
  const { DATA_DIR } = readConfig(process.env, { unused: KEY_RINGS });
  const folder = DataFolder.open(DATA_DIR);
  stack.defer(() => folder.close());
  await stopOrphans(folder, print);
  const secrets = loadGeneratedSecrets(folder, [LOCAL_CALLER.name, CONNECTOR_CALLER.name]);
  const { caFile } = await loadDemoCertificate(folder);
  const settings = localConfig(process.env, folder, secrets, caFile);
  await assertPortsFree(portsOf(settings));
  const signIn = settings.OIDC_ISSUER ? undefined : new DemoSignIn(folder, settings);

  const temporal = startTemporal(settings, folder);
  stack.defer(() => temporal.stop());
  const TEMPORAL_UI_URL = settings.TEMPORAL_UI_URL ?? temporal.uiUrl;
  const logger = createLogger(settings.LOG_LEVEL, folder.privateFile(LOG_FILE));
  await startTracing('all', settings, logger);
  stack.defer(stopTracing);
  const connector = await startDemoConnector(folder.privateFile(CONNECTOR_FILE), logger);
  stack.defer(() => connector.stop());
  const providers = demoProviders(connector);
  const config = { ...settings, ...signIn?.settings, ...providers, TEMPORAL_UI_URL };
  const databaseUrl = await connectDatabase(config, folder, stack);
  const receiver = await startDemoReceiver({ folder, port: config.DEMO_RECEIVER_PORT });
  stack.defer(() => receiver.stop());
  const system = await startLocalSystem({ config, databaseUrl, temporal, logger, stack });

  connector.reportTo(system.grpcUrl, secrets.serviceTokens[CONNECTOR_CALLER.name]!);
  const provider = await signIn?.start(system.dashboardUrl);
  stack.defer(async () => provider?.stop());

  const { live, sandbox, other } = await demoAccess(folder, system, signIn);
  const demo: DemoFile = {
    live: { ...live, baseUrl: system.liveUrl },
    sandbox: { ...sandbox, baseUrl: system.sandboxUrl },
    other,
    grpc: { baseUrl: system.grpcUrl, token: secrets.serviceTokens[LOCAL_CALLER.name]! },
    operations: { baseUrl: system.opsUrl },
    dashboard: { baseUrl: system.dashboardUrl, ...signIn?.access },
    temporal: { address: temporal.address, ui: TEMPORAL_UI_URL, namespace: config.TEMPORAL_NAMESPACE },
    receiver: { url: `${receiver.url}/webhooks/demo`, ca: receiver.caFile },
  };
  folder.writeJson(DEMO_FILE, demo);
  const stopReporting = await startProviderReports({
    folder,
    logger,
    transport: system.transport,
    merchants: [live.merchantId, other.merchantId],
    silentAfterMs: config.PROVIDER_SILENT_AFTER,
  });
  stack.defer(stopReporting);
  // The demo data takes the steps of its workflows itself, so the worker starts after it.
  system.startWorker();
  print(summary(demo, folder));
  print('ready: Ctrl-C stops everything');
}

/** The demo connector as the provider of refunds and payouts, unless the environment sets a provider or `none`. */
function demoProviders({ url, token }: DemoConnector): Partial<Config> {
  const { REFUND_PROVIDER_URL, PAYOUT_PROVIDER_URL } = process.env;
  return {
    ...(!REFUND_PROVIDER_URL && { REFUND_PROVIDER_URL: url, REFUND_PROVIDER_TOKEN: token }),
    ...(!PAYOUT_PROVIDER_URL && { PAYOUT_PROVIDER_URL: url, PAYOUT_PROVIDER_TOKEN: token }),
  };
}

/** The ports that this start listens on, by setting. */
function portsOf(config: Config) {
  const listeners = LISTENER_PORTS.map((setting) => ({ setting, port: config[setting], host: config.HOST }));
  const receiver = { setting: 'DEMO_RECEIVER_PORT', port: config.DEMO_RECEIVER_PORT };
  const provider = config.OIDC_ISSUER ? [] : [{ setting: 'OIDC_PORT', port: config.OIDC_PORT }];
  const { TEMPORAL_ADDRESS, TEMPORAL_PORT: port, TEMPORAL_UI_PORT: uiPort } = config;
  const temporal = TEMPORAL_ADDRESS ? [] : embeddedPorts({ port, uiPort });
  return [...listeners, receiver, ...provider, ...temporal];
}

function startTemporal(config: Config, folder: DataFolder): TemporalServer {
  const temporal = new TemporalServer({
    folder,
    namespace: config.TEMPORAL_NAMESPACE,
    address: config.TEMPORAL_ADDRESS,
    security: config,
    port: config.TEMPORAL_PORT,
    uiPort: config.TEMPORAL_UI_PORT,
  });
  temporal.on('status', ({ state, detail }) => print(state === 'up' ? detail : `workflows wait: ${detail}`));
  return temporal;
}

/** The URL of DATABASE_URL, else of an embedded PostgreSQL. */
async function connectDatabase(
  { DATABASE_URL }: Config,
  folder: DataFolder,
  stack: AsyncDisposableStack,
): Promise<string> {
  if (DATABASE_URL) {
    await assertDatabaseReachable(DATABASE_URL);
    return DATABASE_URL;
  }
  return (await startPostgres({ folder, log: print, stack })).url;
}

/**
 * The demo merchants and their keys. The first start writes the demo data and makes the demo's people members; later
 * ones add refund cases in states that have none left.
 */
async function demoAccess(
  folder: DataFolder,
  { transport }: LocalSystem,
  signIn: DemoSignIn | undefined,
): Promise<DemoAccess> {
  const text = folder.read(DEMO_FILE);
  const saved = text === undefined ? undefined : (JSON.parse(text) as DemoAccess & { dashboard?: object });
  if (!saved) print('writing demo data, once …');
  const size = OPTIONS['small-demo-data'] ? SMALL_SIZE : FULL_SIZE;
  const access = saved ?? (await writeDemoData(transport, new Date(), size));
  // Benchmarks start without demo merchants.
  if (saved?.live.merchantId) {
    // Users may have advanced the cases that an earlier start of the day added.
    await topUpDemoData(transport, new Date()).catch((error: unknown) => {
      print(`the demo data does not show every state of a refund: ${(error as Error).message}`);
    });
  }
  if (saved?.dashboard && 'email' in saved.dashboard) return access;
  await signIn?.addMembers(transport, [access.live.merchantId, access.other.merchantId]);
  return access;
}

function summary(
  { live, sandbox, dashboard, grpc, operations, temporal, receiver }: DemoFile,
  folder: DataFolder,
) {
  const signIn = dashboard.email ? `   as ${dashboard.email}, password ${dashboard.password}` : '';
  return `
  live API       ${live.baseUrl}
  sandbox API    ${sandbox.baseUrl}
  dashboard      ${dashboard.baseUrl}${signIn}
  internal API   ${grpc.baseUrl}   gRPC, gRPC-Web and Connect
  operations     ${operations.baseUrl}   /healthz /readyz /metrics
  Temporal       ${temporal.address}${temporal.ui ? `   UI ${temporal.ui}` : ''}
  demo receiver  ${new URL(receiver.url).origin}
  secrets        ${folder.file(DEMO_FILE)}
  log            ${folder.file(LOG_FILE)}

  curl -s -H 'Authorization: Bearer ${live.apiKey}' '${live.baseUrl}/v1/refund-cases?limit=2'
`;
}

/** Prints one line for a fault that the user can fix, and the stack of any other error. */
function printError(error: unknown): void {
  const isExpected = error instanceof StartError || error instanceof ConfigError;
  console.error(isExpected ? error.message : error);
}

if (OPTIONS.help) {
  print(settingsHelp());
  process.exit(0);
}
const stack = new AsyncDisposableStack();
let stopping = false;
const stop = async (code: number) => {
  if (stopping) process.exit(code || 1);
  stopping = true;
  if (code === 0) print('stopping …');
  await stack.disposeAsync().catch(printError);
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(0));
// A terminal that was closed takes no more lines. Unhandled, the error would leave PostgreSQL and the Temporal server running.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
await start(stack).catch((error) => {
  if (stopping) return;
  printError(error);
  return stop(1);
});
