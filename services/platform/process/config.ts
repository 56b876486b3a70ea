import {
  addressBlocks,
  boolean,
  duration,
  durationFrom,
  durations,
  integer,
  issuerUrl,
  keyRing,
  listOf,
  oneOf,
  optional,
  type Parser,
  portRanges,
  postgresUrl,
  rateLimitStore,
  serviceTokens,
  smtpUrl,
  text,
  url,
} from './setting-parsers.ts';

/** One row of the table of settings: how its text is read, what it is when absent, and what it means. */
export interface Setting<T> {
  readonly parse: Parser<T>;
  /** Text taken when the variable is absent or empty; undefined: the setting is required. */
  readonly fallback: string | undefined;
  readonly description: string;
}

const setting = <T>(parse: Parser<T>, fallback: string | undefined, description: string): Setting<T> => ({
  parse,
  fallback,
  description,
});

/** Every setting. docs/settings.md, .env.example and `npm start -- --help` list this table. */
export const SETTINGS = {
  LIVE_PORT: setting(integer(0, 65535), '8080', 'public API, live environment'),
  SANDBOX_PORT: setting(integer(0, 65535), '8081', 'public API, sandbox environment'),
  GRPC_PORT: setting(integer(0, 65535), '8082', 'internal services: gRPC, gRPC-Web and Connect'),
  OPS_PORT: setting(integer(0, 65535), '8083', '/healthz, /readyz and /metrics'),
  DASHBOARD_PORT: setting(integer(0, 65535), '8090', "merchants' dashboard"),
  HOST: setting(text, '127.0.0.1', 'address that the listeners bind to'),
  TEMPORAL_PORT: setting(integer(1, 65535), '7233', 'Temporal dev server of npm start'),
  TEMPORAL_UI_PORT: setting(integer(1, 65535), '8233', 'Temporal UI of npm start'),
  DEMO_RECEIVER_PORT: setting(integer(0, 65535), '8443', 'HTTPS receiver of npm start, for demos'),
  DATA_DIR: setting(text, '.data', 'folder of npm start: database, Temporal state, secrets, demo.json'),
  DATABASE_URL: setting(optional(postgresUrl), '', 'PostgreSQL; npm start runs its own when absent'),
  DATABASE_POOL_SIZE: setting(
    integer(1, 1000),
    '20',
    'connections to PostgreSQL per process for writes, and as many for reads',
  ),
  DATABASE_PREPARED_STATEMENTS: setting(boolean, 'true', 'off behind a pooler that does not keep them'),
  TEMPORAL_ADDRESS: setting(optional(text), '', 'Temporal server; npm start runs its own when absent'),
  TEMPORAL_NAMESPACE: setting(text, 'default', 'namespace of the workflows'),
  TEMPORAL_UI_URL: setting(optional(text), '', 'address of the Temporal UI, for links'),
  SERVICES_URL: setting(
    optional(text),
    '',
    'where gateway and worker find services that another process runs',
  ),
  SERVICES: setting(
    listOf('refunds', 'catalog', 'funds', 'advances', 'webhooks', 'api-keys', 'accounts'),
    'refunds,catalog,funds,advances,webhooks,api-keys,accounts',
    'areas that a services process runs',
  ),
  SERVICE_TOKEN: setting(optional(text), '', 'token this process shows to services of other processes'),
  SERVICE_TOKENS: setting(
    serviceTokens,
    '',
    'callers: name|sha256 of the token in hex|grants, separated by ;',
  ),
  GRPC_REFLECTION: setting(boolean, 'true', 'server reflection on the internal port'),
  API_KEY_PEPPERS: setting(
    keyRing,
    undefined,
    'peppers of API keys: v1:<base64 of 32 bytes>,… the first writes',
  ),
  WEBHOOK_SECRET_KEYS: setting(keyRing, undefined, 'keys that encrypt signing secrets, same form'),
  CURSOR_KEYS: setting(keyRing, undefined, 'keys that sign page tokens, same form'),
  PUBLIC_URL_LIVE: setting(optional(url), '', 'address of the live API as merchants see it'),
  PUBLIC_URL_SANDBOX: setting(optional(url), '', 'address of the sandbox API as merchants see it'),
  PUBLIC_URL_DASHBOARD: setting(optional(url), '', 'address of the dashboard as people see it'),
  DASHBOARD_SERVICE_TOKEN: setting(
    optional(text),
    '',
    'token the dashboard shows to services of other processes; a gateway without it serves no dashboard',
  ),
  DASHBOARD_SESSION_IDLE: setting(duration, '1h', 'after how long without a request a session ends'),
  DASHBOARD_SESSION_LIFETIME: setting(duration, '12h', 'after how long a session ends in any case'),
  OIDC_ISSUER: setting(
    optional(issuerUrl),
    '',
    'OpenID provider of the dashboard; npm start runs its own when absent',
  ),
  OIDC_CLIENT_ID: setting(text, 'merchant-dashboard', 'the dashboard as the provider knows it'),
  OIDC_CLIENT_SECRET: setting(optional(text), '', 'its secret there; absent for a public client'),
  OIDC_PORT: setting(integer(1, 65535), '8091', 'OpenID provider of npm start'),
  SMTP_URL: setting(
    optional(smtpUrl),
    '',
    'smtp(s)://user:password@host:port for mail to merchants; none is sent without it',
  ),
  MAIL_FROM: setting(text, 'Merchant Payments <payments@localhost>', 'sender of the mail to merchants'),
  TRUSTED_PROXIES: setting(addressBlocks, '', 'CIDRs of proxies whose X-Forwarded-For is believed'),
  RATE_LIMIT_LIVE: setting(integer(1, 1_000_000), '100', 'requests per second and live key'),
  RATE_LIMIT_SANDBOX: setting(integer(1, 1_000_000), '25', 'requests per second and sandbox key'),
  RATE_LIMIT_ADDRESS: setting(
    integer(1, 1_000_000),
    '50',
    'requests per second and address without a valid key, and to the dashboard',
  ),
  RATE_LIMIT_STORE: setting(
    rateLimitStore,
    'memory',
    'memory: each gateway process counts for itself; postgresql: all count together in DATABASE_URL; or a postgres URL',
  ),
  HTTP_REQUEST_TIMEOUT: setting(duration, '30s', 'time in which a request to the public API must arrive'),
  WEBHOOK_ALLOW_CIDRS: setting(
    addressBlocks,
    '',
    'private CIDRs that sandbox webhooks may reach; never live',
  ),
  WEBHOOK_EXTRA_CA: setting(optional(text), '', "PEM file trusted for deliveries besides the system's"),
  WEBHOOK_ALLOWED_PORTS: setting(portRanges, '443,1024-65535', 'ports that webhook URLs may name'),
  WEBHOOK_EGRESS_PROXY: setting(optional(url), '', 'HTTP(S) proxy through which deliveries leave'),
  WEBHOOK_SCHEDULE_LIVE: setting(
    durations,
    '0s,5s,5m,30m,2h,5h,10h,14h,20h,24h',
    'waits before each live attempt',
  ),
  WEBHOOK_SCHEDULE_SANDBOX: setting(durations, '0s,5s,5m,1h', 'waits before each sandbox attempt'),
  WEBHOOK_BATCH_INTERVAL: setting(
    duration,
    '20ms',
    'least time between two starts of batches, more under load; deliveries are claimed twice in it',
  ),
  WEBHOOK_ROTATION_OVERLAP: setting(duration, '24h', 'how long a replaced signing secret goes on signing'),
  WEBHOOK_SUBSCRIPTION_LIMIT: setting(
    integer(1, 10_000),
    '100',
    'subscriptions not disabled, per merchant and environment',
  ),
  WEBHOOK_RETRY_WORKFLOW_LIMIT: setting(integer(1, 10_000), '50', 'open retry workflows per subscription'),
  WEBHOOK_RETENTION_LIVE: setting(
    durationFrom('1d'),
    '30d',
    'how long live events, deliveries and attempts are kept at least; up to a week more',
  ),
  WEBHOOK_RETENTION_SANDBOX: setting(durationFrom('1d'), '7d', 'the same of the sandbox; up to a day more'),
  REFUND_FREQUENCY_LIMIT_24H: setting(
    integer(1, 1_000_000),
    '100',
    'cases of a merchant in 24 h before review',
  ),
  REFUND_VOLUME_LIMIT_24H: setting(
    integer(1, Number.MAX_SAFE_INTEGER),
    '100000000',
    'centavos of a merchant in 24 h before review',
  ),
  MERCHANT_REVIEW_PERIOD: setting(duration, '7d', 'time a merchant has to decide a refund case'),
  REFUND_DEADLINE_NOTICE: setting(
    duration,
    '24h',
    'how long before its end a review is announced to run out; half of a shorter one',
  ),
  ADVANCE_MONTHLY_RATE_BPS: setting(
    integer(0, 10_000),
    '250',
    'fee of advances, basis points a month, of merchants without a rate of their own',
  ),
  ADVANCE_QUOTE_VALIDITY: setting(duration, '15m', 'how long a quote can be taken up'),
  LOG_LEVEL: setting(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'least level that is logged',
  ),
} as const;

type SettingName = keyof typeof SETTINGS;

/** The settings that hold secret keys. Only services have a use for them. */
export const KEY_RINGS = ['API_KEY_PEPPERS', 'WEBHOOK_SECRET_KEYS', 'CURSOR_KEYS'] as const;

/** The settings as read: one typed value per row of the table. */
export type Config = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Every fault of the environment at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`bad settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Settings as a process of its own reads them: without those it has no use for, with those it cannot do without. */
type ConfigOf<Required extends SettingName, Unused extends SettingName> = Omit<Config, Required | Unused> & {
  readonly [Name in Required]: NonNullable<Config[Name]>;
};

/**
 * Reads all settings once. Throws a ConfigError that lists every fault: unreadable values and missing ones, also of
 * the settings that only this process requires. A setting that is unused is not read and need not be there, so that
 * a process holds no secret that it has no use for.
 */
export function readConfig<Required extends SettingName = never, Unused extends SettingName = never>(
  environment: Readonly<Record<string, string | undefined>>,
  { required = [], unused = [] }: { required?: readonly Required[]; unused?: readonly Unused[] } = {},
): ConfigOf<Required, Unused> {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { parse, fallback }] of Object.entries<Setting<unknown>>(SETTINGS)) {
    if (unused.some((other) => other === name)) continue;
    const given = environment[name] || fallback;
    if (given === undefined || (given === '' && required.some((other) => other === name))) {
      faults.push(`${name} is required`);
      continue;
    }
    try {
      config[name] = parse(given);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config as ConfigOf<Required, Unused>;
}
