import { type Config, ConfigError, KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import { DataFolder } from './data-folder.ts';
import { loadDemoCertificate } from './demo/demo-certificate.ts';
import { type DemoAccess, writeDemoData } from './demo/demo-data.ts';
import { type DemoReceiver, startDemoReceiver } from './demo/demo-receiver.ts';
import { DemoSignIn } from './demo/demo-sign-in.ts';
import { type GeneratedSecrets, loadGeneratedSecrets } from './generated-secrets.ts';
import { LOCAL_CALLER, type LocalSystem, localConfig, startLocalSystem } from './local-system.ts';
import { assertPortsFree } from './ports.ts';
import { givenDatabase } from './postgres/external-database.ts';
import { startPostgres } from './postgres/postgres-server.ts';
import { stopLeftOvers } from './processes/tracked-process.ts';
import { settingsHelp } from './settings-table.ts';
import { StartError } from './start-error.ts';
import { ownPorts, TemporalServer } from './temporal/temporal-server.ts';

const DEMO_FILE = 'demo.json';
const LOG_FILE = 'logs/payments.log';

const say = (line: string) => console.log(line);

/** `npm start`: the whole system in one process, beside its own PostgreSQL and Temporal. */
async function start(stack: AsyncDisposableStack): Promise<void> {
  // Faults of the settings come before anything is made.
  const { DATA_DIR } = readConfig(process.env, { unused: KEY_RINGS });
  const folder = DataFolder.open(DATA_DIR);
  stack.defer(() => folder.close());
  await stopLeftOvers(folder, say);
  const secrets = loadGeneratedSecrets(folder, [LOCAL_CALLER]);
  const { caFile } = await loadDemoCertificate(folder);
  const settings = localConfig(process.env, folder, secrets, caFile);
  await assertPortsFree(portsOf(settings));
  const signIn = settings.OIDC_ISSUER ? undefined : new DemoSignIn(folder, settings);

  const temporal = startTemporal(settings, folder);
  stack.defer(() => temporal.stop());
  const TEMPORAL_UI_URL = settings.TEMPORAL_UI_URL ?? temporal.uiUrl;
  const config = { ...settings, ...signIn?.settings, TEMPORAL_UI_URL };
  const databaseUrl = config.DATABASE_URL
    ? await givenDatabase(config.DATABASE_URL)
    : await startOwnPostgres(folder, stack);
  const receiver = await startDemoReceiver({ folder, port: config.DEMO_RECEIVER_PORT });
  stack.defer(() => receiver.stop());
  const logger = createLogger(config.LOG_LEVEL, folder.file(LOG_FILE));
  const system = await startLocalSystem({
    config,
    databaseUrl,
    temporalAddress: temporal.address,
    logger,
    stack,
  });

  const provider = await signIn?.start(system.dashboardUrl);
  stack.defer(async () => provider?.stop());

  const access = await demoAccess(folder, system, signIn);
  const addresses = addressesOf(system, temporal, config, secrets, receiver);
  const dashboard = { baseUrl: system.dashboardUrl, ...signIn?.access };
  folder.write(DEMO_FILE, `${JSON.stringify({ ...withAddresses(access, addresses), dashboard }, null, 2)}\n`);
  // After the demo data, which takes the steps of its workflows itself.
  system.startWorker();
  announce(system, temporal, receiver.url, folder, signIn);
}

/** The ports that this start takes. */
function portsOf(config: Config) {
  const { LIVE_PORT, SANDBOX_PORT, GRPC_PORT, OPS_PORT, DASHBOARD_PORT, DEMO_RECEIVER_PORT } = config;
  const named = Object.entries({
    ...{ LIVE_PORT, SANDBOX_PORT, GRPC_PORT, OPS_PORT, DASHBOARD_PORT, DEMO_RECEIVER_PORT },
    ...(config.OIDC_ISSUER ? {} : { OIDC_PORT: config.OIDC_PORT }),
  });
  const own = named.map(([setting, port]) => ({ setting, port }));
  if (config.TEMPORAL_ADDRESS) return own;
  return [...own, ...ownPorts({ port: config.TEMPORAL_PORT, uiPort: config.TEMPORAL_UI_PORT })];
}

function startTemporal(config: Config, folder: DataFolder): TemporalServer {
  const temporal = new TemporalServer({
    folder,
    namespace: config.TEMPORAL_NAMESPACE,
    address: config.TEMPORAL_ADDRESS,
    port: config.TEMPORAL_PORT,
    uiPort: config.TEMPORAL_UI_PORT,
  });
  temporal.on('status', ({ state, detail }) => say(state === 'up' ? detail : `deliveries wait: ${detail}`));
  return temporal;
}

async function startOwnPostgres(folder: DataFolder, stack: AsyncDisposableStack): Promise<string> {
  const postgres = await startPostgres({ folder, log: say });
  stack.defer(() => postgres.stop());
  return postgres.url;
}

/** Who the demo merchants are and their keys: of the first start, which writes the demo data and makes members. */
async function demoAccess(
  folder: DataFolder,
  { transport }: LocalSystem,
  signIn: DemoSignIn | undefined,
): Promise<DemoAccess> {
  const text = folder.read(DEMO_FILE);
  const kept = text === undefined ? undefined : (JSON.parse(text) as DemoAccess & { dashboard?: object });
  if (!kept) say('writing demo data, once …');
  const access = kept ?? (await writeDemoData(transport, new Date()));
  if (kept?.dashboard && 'email' in kept.dashboard) return access;
  await signIn?.makeMembers(transport, [access.live.merchantId, access.other.merchantId]);
  return access;
}

/** What demo.json holds: a start on other ports writes its own addresses. */
function withAddresses(
  { live, sandbox, other }: DemoAccess,
  { liveUrl, sandboxUrl, ...addresses }: ReturnType<typeof addressesOf>,
) {
  return {
    live: { ...live, baseUrl: liveUrl },
    sandbox: { ...sandbox, baseUrl: sandboxUrl },
    other,
    ...addresses,
  };
}

function addressesOf(
  { liveUrl, sandboxUrl, grpcUrl }: LocalSystem,
  temporal: TemporalServer,
  config: Config,
  secrets: GeneratedSecrets,
  receiver: DemoReceiver,
) {
  return {
    liveUrl,
    sandboxUrl,
    grpc: { baseUrl: grpcUrl, token: secrets.serviceTokens[LOCAL_CALLER] },
    temporal: {
      address: temporal.address,
      ui: config.TEMPORAL_UI_URL,
      namespace: config.TEMPORAL_NAMESPACE,
    },
    receiver: { url: `${receiver.url}/webhooks/demo`, ca: receiver.caFile },
  };
}

function announce(
  system: LocalSystem,
  temporal: TemporalServer,
  receiverUrl: string,
  folder: DataFolder,
  signIn: DemoSignIn | undefined,
): void {
  const { live } = JSON.parse(folder.read(DEMO_FILE)!) as { live: { apiKey: string } };
  say(`
  live API       ${system.liveUrl}
  sandbox API    ${system.sandboxUrl}
  dashboard      ${system.dashboardUrl}${signIn ? `   as ${signIn.access.email}, password ${signIn.access.password}` : ''}
  internal API   ${system.grpcUrl}   gRPC, gRPC-Web and Connect
  operations     ${system.opsUrl}   /healthz /readyz /metrics
  Temporal       ${temporal.address}${temporal.uiUrl ? `   UI ${temporal.uiUrl}` : ''}
  demo receiver  ${receiverUrl}
  secrets        ${folder.file(DEMO_FILE)}
  log            ${folder.file(LOG_FILE)}

  curl -s -H 'Authorization: Bearer ${live.apiKey}' '${system.liveUrl}/v1/refund-cases?limit=2'
`);
  say('ready: Ctrl-C stops everything');
}

/** One line for what a user can mend; a stack only for what nobody foresaw. */
function tell(error: unknown): void {
  const foreseen = error instanceof StartError || error instanceof ConfigError;
  console.error(foreseen ? error.message : error);
}

if (process.argv.includes('--help')) {
  say(settingsHelp());
  process.exit(0);
}
const stack = new AsyncDisposableStack();
let stopping = false;
const stop = async (code: number) => {
  if (stopping) process.exit(code || 1);
  stopping = true;
  if (code === 0) say('stopping …');
  await stack.disposeAsync().catch(tell);
  process.exit(code);
};
process.on('SIGINT', () => stop(0)).on('SIGTERM', () => stop(0));
await start(stack).catch((error) => {
  if (!stopping) tell(error);
  return stop(1);
});
