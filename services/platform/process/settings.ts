import {
  addressBlocks,
  baseUrl,
  boolean,
  certificateCallers,
  certificateFile,
  contact,
  duration,
  durationFrom,
  headers,
  integer,
  issuerUrl,
  keyRing,
  listeningAddress,
  listOf,
  oneOf,
  optional,
  type Parser,
  portRanges,
  postgresUrl,
  postgresUrls,
  privateKeyFile,
  providerUrl,
  proxyUrl,
  rateLimitStore,
  readableFile,
  schedule,
  serviceTokens,
  serviceUrl,
  share,
  smtpUrl,
  temporalAddress,
  text,
  token,
  url,
} from './setting-parsers.ts';

/** One row of the settings table: how its text is parsed, its default, and what it means. */
export interface Setting<T> {
  readonly parse: Parser<T>;
  /** Text used if the variable is absent or empty; undefined if the setting is required. */
  readonly fallback: string | undefined;
  readonly description: string;
}

const setting = <T>(parse: Parser<T>, fallback: string | undefined, description: string): Setting<T> => ({
  parse,
  fallback,
  description,
});

/** Every setting. docs/settings.md, .env.example and `npm start -- --help` are generated from this table. */
export const SETTINGS = {
  LIVE_PORT: setting(integer(0, 65535), '8080', 'public API, live environment'),
  SANDBOX_PORT: setting(integer(0, 65535), '8081', 'public API, sandbox environment'),
  GRPC_PORT: setting(integer(0, 65535), '8082', 'internal services: gRPC, gRPC-Web and Connect'),
  RPC_MAX_CONCURRENT_CALLS: setting(
    integer(1, 100_000),
    '1000',
    'calls that services run at once on GRPC_PORT; more are refused as UNAVAILABLE, reason OVERLOADED',
  ),
  API_MAX_CONCURRENT_REQUESTS: setting(
    integer(1, 100_000),
    '1000',
    'requests that each host of the public API handles at once; more are refused with 503 and Retry-After',
  ),
  OPS_PORT: setting(integer(0, 65535), '8083', '/healthz, /readyz and /metrics'),
  DASHBOARD_PORT: setting(integer(0, 65535), '8090', "merchants' dashboard"),
  STOP_DELAY: setting(
    durationFrom('0s', '1d'),
    '0s',
    'how long a process that is stopping keeps serving while it reports not ready, so that load balancers notice',
  ),
  HOST: setting(
    listeningAddress,
    '127.0.0.1',
    'address that all ports are opened on; localhost is 127.0.0.1',
  ),
  TEMPORAL_PORT: setting(integer(1, 65535), '7233', 'Temporal server of npm start'),
  TEMPORAL_UI_PORT: setting(integer(1, 65535), '8233', 'Temporal UI of npm start'),
  DEMO_RECEIVER_PORT: setting(integer(0, 65535), '8443', 'demo webhook receiver of npm start (HTTPS)'),
  DATA_DIR: setting(text, '.data', 'data folder of npm start: database, Temporal state, secrets, demo.json'),
  DATABASE_URL: setting(optional(postgresUrl), '', 'PostgreSQL; if absent, npm start runs its own'),
  // Three at least: reading deliveries and listening for new work each hold one of the connections for reads.
  DATABASE_POOL_SIZE: setting(
    integer(3, 1000),
    '20',
    'PostgreSQL connections per process for writes, and the same number for reads',
  ),
  DATABASE_PREPARED_STATEMENTS: setting(
    boolean,
    'true',
    'turn off behind a connection pooler that does not support prepared statements',
  ),
  DATABASE_REPLICA_URLS: setting(
    postgresUrls,
    '',
    'streaming replicas of DATABASE_URL that services read lists from, separated by commas; each names one server',
  ),
  DATABASE_REPLICA_MAX_LAG: setting(
    durationFrom('1ms'),
    '100ms',
    'how long a list waits for a replica to catch up with the primary, before the primary answers it',
  ),
  TEMPORAL_ADDRESS: setting(
    optional(temporalAddress),
    '',
    'Temporal server; if absent, npm start runs its own',
  ),
  TEMPORAL_NAMESPACE: setting(text, 'default', 'Temporal namespace'),
  TEMPORAL_TLS: setting(
    optional(boolean),
    '',
    'whether to connect to TEMPORAL_ADDRESS with TLS; if absent, only when one of the next six is set',
  ),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: setting(
    optional(certificateFile),
    '',
    "PEM file with the CA certificates that Temporal's certificate is checked against; if absent, the system's",
  ),
  TEMPORAL_TLS_CLIENT_CERT_PATH: setting(
    optional(certificateFile),
    '',
    'PEM file with the client certificate for mutual TLS with Temporal',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: setting(
    optional(privateKeyFile),
    '',
    'PEM file with the private key of the client certificate',
  ),
  TEMPORAL_TLS_SERVER_NAME: setting(
    optional(text),
    '',
    "DNS name that Temporal's certificate must have; if absent, the host of TEMPORAL_ADDRESS, unless that is IPv6",
  ),
  TEMPORAL_API_KEY: setting(optional(token), '', 'API key for Temporal, as Temporal Cloud issues them'),
  TEMPORAL_API_KEY_PATH: setting(
    optional(readableFile),
    '',
    'file with the API key for Temporal, in place of TEMPORAL_API_KEY; replaced without a restart',
  ),
  TEMPORAL_PAYLOAD_KEYS_PATH: setting(
    optional(readableFile),
    '',
    'file with the keys that encrypt what workflows contain before Temporal gets it: v1:<base64 of 32 bytes>, one on each line; the first encrypts',
  ),
  TEMPORAL_PAYLOAD_CODEC: setting(
    optional(readableFile),
    '',
    'JavaScript module that exports a payloadCodec of your own (PayloadCodec of the Temporal SDK), in place of these keys',
  ),
  WORKFLOW_BUNDLE_DIR: setting(
    optional(text),
    '',
    'folder with the workflow code as `node workflows/write-bundles.ts` bundles it, as in the image; if absent, the worker bundles it at each start, which takes seconds',
  ),
  CODEC_PORT: setting(
    integer(0, 65535),
    '8084',
    'codec server, which decodes what workflows contain for people who operate Temporal',
  ),
  TEMPORAL_UI_URL: setting(optional(url), '', 'URL of the Temporal UI, for links to workflows'),
  SERVICES_URL: setting(
    optional(serviceUrl),
    '',
    'URL of the services, if they run in another process than gateway and worker',
  ),
  SERVICES: setting(
    listOf('refunds', 'catalog', 'funds', 'advances', 'webhooks', 'webhook-lanes', 'api-keys', 'accounts'),
    'refunds,catalog,funds,advances,webhooks,webhook-lanes,api-keys,accounts',
    'areas that this services process runs; webhook-lanes sends the webhooks',
  ),
  SERVICE_TOKEN: setting(
    optional(token),
    '',
    'token with which this process calls services in other processes',
  ),
  SERVICE_TOKENS: setting(
    serviceTokens,
    '',
    'callers besides those of npm run tokens: name|SHA-256 of the token in hex|grants separated by spaces; callers separated by ;',
  ),
  RPC_TLS_CA_CERT_PATH: setting(
    optional(certificateFile),
    '',
    'PEM file with the CA certificates by which gateway, services and worker verify each other (mutual TLS)',
  ),
  RPC_TLS_CERT_PATH: setting(
    optional(certificateFile),
    '',
    'PEM file with the certificate of this process: as the server of GRPC_PORT, and as a client of SERVICES_URL',
  ),
  RPC_TLS_KEY_PATH: setting(
    optional(privateKeyFile),
    '',
    'PEM file with the private key of that certificate',
  ),
  RPC_TLS_SERVER_NAME: setting(
    optional(text),
    '',
    'name that the certificate of the services must have; if absent, the host of SERVICES_URL',
  ),
  RPC_TLS_CALLERS: setting(
    certificateCallers,
    '',
    'callers that need no token, by their certificate: name|URI in its subject alternative name|grants separated by spaces; callers separated by ;',
  ),
  GRPC_REFLECTION: setting(boolean, 'true', 'server reflection on the internal port'),
  API_KEY_PEPPERS: setting(
    keyRing,
    undefined,
    'peppers for hashing API keys: v1:<base64 of 32 bytes>,v2:…; the first is used for new keys',
  ),
  WEBHOOK_SECRET_KEYS: setting(keyRing, undefined, 'keys that encrypt signing secrets, in the same format'),
  CURSOR_KEYS: setting(keyRing, undefined, 'keys that sign page tokens, in the same format'),
  PUBLIC_URL_LIVE: setting(optional(url), '', 'public URL of the live API'),
  PUBLIC_URL_SANDBOX: setting(optional(url), '', 'public URL of the sandbox API'),
  PUBLIC_URL_DASHBOARD: setting(optional(url), '', 'public URL of the dashboard'),
  DASHBOARD_SERVICE_TOKEN: setting(
    optional(token),
    '',
    'token with which the dashboard calls services in other processes; without it or DASHBOARD_RPC_TLS_CERT_PATH, a gateway serves no dashboard',
  ),
  DASHBOARD_RPC_TLS_CERT_PATH: setting(
    optional(certificateFile),
    '',
    "PEM file with the dashboard's own certificate, in place of DASHBOARD_SERVICE_TOKEN",
  ),
  DASHBOARD_RPC_TLS_KEY_PATH: setting(
    optional(privateKeyFile),
    '',
    'PEM file with the private key of that certificate',
  ),
  DASHBOARD_SESSION_IDLE: setting(
    durationFrom('1s'),
    '1h',
    'a dashboard session ends after this time without a request',
  ),
  DASHBOARD_SESSION_LIFETIME: setting(
    durationFrom('1s'),
    '12h',
    'a dashboard session ends after this time in any case',
  ),
  AUDIT_RETENTION: setting(
    durationFrom('1d'),
    '730d',
    'minimum time that entries of the audit trail are kept; up to 30 days longer',
  ),
  OIDC_ISSUER: setting(
    optional(issuerUrl),
    '',
    'OpenID provider of the dashboard; if absent, npm start runs its own',
  ),
  OIDC_CLIENT_ID: setting(text, 'merchant-dashboard', 'client id of the dashboard at the OpenID provider'),
  OIDC_CLIENT_SECRET: setting(
    optional(text),
    '',
    'client secret of the dashboard; absent for a public client',
  ),
  OIDC_PORT: setting(integer(1, 65535), '8091', 'OpenID provider of npm start'),
  SMTP_URL: setting(
    optional(smtpUrl),
    '',
    'smtp(s)://user:password@host:port for mail to merchants; smtp requires TLS (STARTTLS) if the URL has a password, and otherwise uses it if the server offers it; ?requireTLS=true or false decides for itself. If absent, no mail is sent',
  ),
  MAIL_FROM: setting(text, 'Merchant Payments <payments@localhost>', 'sender of mail to merchants'),
  SUPPORT_CONTACT: setting(
    optional(contact),
    '',
    'email address or https URL of your support, shown on every page of the dashboard; empty: not shown',
  ),
  WEBHOOK_EGRESS_ADDRESSES: setting(
    addressBlocks,
    '',
    'CIDRs from which webhooks leave, shown to merchants for their allow-lists; empty: not shown',
  ),
  TRUSTED_PROXIES: setting(addressBlocks, '', 'CIDRs of proxies whose X-Forwarded-For is trusted'),
  RATE_LIMIT_LIVE: setting(integer(1, 1_000_000), '100', 'requests per second per live API key'),
  RATE_LIMIT_SANDBOX: setting(integer(1, 1_000_000), '25', 'requests per second per sandbox API key'),
  RATE_LIMIT_ADDRESS: setting(
    integer(1, 1_000_000),
    '50',
    'requests per second per address without a valid API key, and to the dashboard',
  ),
  SIGN_IN_LIMIT_ADDRESS: setting(
    integer(1, 1_000_000),
    '60',
    'requests per minute and address that begin or complete a sign-in to the dashboard; a sign-in takes two',
  ),
  SIGN_IN_LIMIT_ACCOUNT: setting(
    integer(1, 1_000_000),
    '20',
    'sessions that an account may start within ten minutes',
  ),
  RATE_LIMIT_STORE: setting(
    rateLimitStore,
    'memory',
    'memory: each gateway process counts by itself; postgresql: all share a count in DATABASE_URL; or the URL of another PostgreSQL',
  ),
  HTTP_REQUEST_TIMEOUT: setting(
    durationFrom('100ms', '1d'),
    '30s',
    'time within which a request to the public API must arrive completely',
  ),
  WEBHOOK_ALLOW_CIDRS: setting(
    addressBlocks,
    '',
    'private CIDRs that sandbox webhooks may reach; live webhooks never may',
  ),
  WEBHOOK_EXTRA_CA: setting(
    optional(text),
    '',
    "PEM file with CA certificates that deliveries trust in addition to the system's",
  ),
  WEBHOOK_ALLOWED_PORTS: setting(portRanges, '443,1024-65535', 'ports allowed in webhook URLs'),
  WEBHOOK_EGRESS_PROXY: setting(optional(proxyUrl), '', 'HTTP(S) proxy for deliveries'),
  WEBHOOK_SCHEDULE_LIVE: setting(
    schedule,
    '0s,5s,5m,30m,2h,5h,10h,14h,20h,24h',
    'wait before each attempt in live',
  ),
  WEBHOOK_SCHEDULE_SANDBOX: setting(schedule, '0s,5s,5m,1h', 'wait before each attempt in the sandbox'),
  WEBHOOK_ROTATION_OVERLAP: setting(duration, '24h', 'how long a replaced signing secret keeps signing'),
  WEBHOOK_SUBSCRIPTION_LIMIT: setting(
    integer(1, 10_000),
    '100',
    'maximum number of subscriptions per merchant and environment, not counting disabled ones',
  ),
  WEBHOOK_RETRY_WORKFLOW_LIMIT: setting(
    integer(1, 10_000),
    '50',
    'maximum number of open retry workflows per subscription',
  ),
  WEBHOOK_RETENTION_LIVE: setting(
    durationFrom('1d'),
    '30d',
    'minimum time that live events, deliveries and attempts are kept; up to a week longer',
  ),
  WEBHOOK_RETENTION_SANDBOX: setting(
    durationFrom('1d'),
    '7d',
    'the same for the sandbox; up to a day longer',
  ),
  REFUND_FREQUENCY_LIMIT_24H: setting(
    integer(1, 1_000_000),
    '100',
    'refund cases of a merchant in 24 hours beyond which new ones are reviewed',
  ),
  REFUND_VOLUME_LIMIT_24H: setting(
    integer(1, Number.MAX_SAFE_INTEGER),
    '100000000',
    'refunded centavos of a merchant in 24 hours beyond which new cases are reviewed',
  ),
  REFUND_EXECUTION: setting(
    oneOf('automatic', 'manual'),
    'automatic',
    'automatic: approved refund cases without blockers are executed; manual: StartRefund executes them',
  ),
  MERCHANT_REVIEW_PERIOD: setting(duration, '7d', 'time that a merchant has to decide a refund case'),
  REFUND_DEADLINE_NOTICE: setting(
    duration,
    '24h',
    'how long before the deadline of a review or the due date of a dispute its notice is sent, or halfway if the period is shorter than twice that; for a dispute without a due date at once, unless it is recorded more than a day late',
  ),
  REFUND_PROVIDER_URL: setting(
    providerUrl,
    'none',
    'RefundProviderService that refunds are submitted to (npm start brings a demo connector); none: outcomes are reported with RecordProviderOutcome alone',
  ),
  REFUND_PROVIDER_TOKEN: setting(optional(token), '', 'bearer token for REFUND_PROVIDER_URL'),
  PAYOUT_PROVIDER_URL: setting(
    providerUrl,
    'none',
    'PayoutProviderService that payouts of advances are submitted to (npm start brings a demo connector); none: payouts are made elsewhere',
  ),
  PAYOUT_PROVIDER_TOKEN: setting(optional(token), '', 'bearer token for PAYOUT_PROVIDER_URL'),
  PROVIDER_SILENT_AFTER: setting(
    duration,
    '24h',
    'a refund in PROCESSING counts as silent when its provider has not reported on it for this long',
  ),
  REFUND_WORK_DUE_AFTER: setting(
    duration,
    '72h',
    'an open refund case without a deadline, or a response to a dispute, counts as overdue when operations or the merchant have not acted for this long',
  ),
  DISPUTE_OUTCOME_DUE_AFTER: setting(
    duration,
    '90d',
    'an open dispute counts as overdue when its outcome has not been recorded for this long after its due date or, without one, its opening',
  ),
  DEBT_DUE_AFTER: setting(
    duration,
    '30d',
    "a merchant's debt counts as overdue when neither sales nor a payment have covered it for this long",
  ),
  ADVANCE_MONTHLY_RATE_BPS: setting(
    integer(0, 10_000),
    '250',
    'monthly fee of advances in basis points, for merchants without an individual rate',
  ),
  ADVANCE_QUOTE_VALIDITY: setting(durationFrom('1s'), '15m', 'how long a quote is valid'),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    optional(baseUrl),
    '',
    'URL of an OpenTelemetry collector that gets traces with OTLP over HTTP, such as http://localhost:4318; if absent, nothing is traced',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    headers,
    '',
    'headers for OTEL_EXPORTER_OTLP_ENDPOINT: name=value,name=value, with values percent-encoded',
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    share,
    '0.01',
    'share of requests that are traced, from 0 to 1; the same for all processes, so that a trace is whole or absent',
  ),
  LOG_LEVEL: setting(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'minimum level that is logged',
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;
