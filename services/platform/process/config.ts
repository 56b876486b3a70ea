import { SETTINGS, type Setting, type SettingName } from './settings.ts';

/** The settings that hold secret keys. Only services need them. */
export const KEY_RINGS = ['API_KEY_PEPPERS', 'WEBHOOK_SECRET_KEYS', 'CURSOR_KEYS'] as const;

/** Settings of a secured connection to Temporal that mean TLS. Only the worker and `npm start` need them. */
const TEMPORAL_CREDENTIALS = [
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_API_KEY',
  'TEMPORAL_API_KEY_PATH',
] as const;

const TEMPORAL_CONNECTION = ['TEMPORAL_TLS', ...TEMPORAL_CREDENTIALS] as const;

/** Every setting that secures the connection to Temporal and the payloads that it stores. */
export const TEMPORAL_SECURITY = [
  ...TEMPORAL_CONNECTION,
  'TEMPORAL_PAYLOAD_KEYS_PATH',
  'TEMPORAL_PAYLOAD_CODEC',
] as const;

/** Every setting of mutual TLS between gateway, services and worker. */
export const RPC_TLS = [
  'RPC_TLS_CA_CERT_PATH',
  'RPC_TLS_CERT_PATH',
  'RPC_TLS_KEY_PATH',
  'RPC_TLS_SERVER_NAME',
  'RPC_TLS_CALLERS',
  'DASHBOARD_RPC_TLS_CERT_PATH',
  'DASHBOARD_RPC_TLS_KEY_PATH',
] as const;

/** Settings that are required as soon as another one is set. */
const COMPANIONS = [
  ['REFUND_PROVIDER_URL', 'REFUND_PROVIDER_TOKEN'],
  ['PAYOUT_PROVIDER_URL', 'PAYOUT_PROVIDER_TOKEN'],
  ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ['TEMPORAL_TLS_CLIENT_KEY_PATH', 'TEMPORAL_TLS_CLIENT_CERT_PATH'],
  ['RPC_TLS_CA_CERT_PATH', 'RPC_TLS_CERT_PATH'],
  ['RPC_TLS_CERT_PATH', 'RPC_TLS_CA_CERT_PATH'],
  ['RPC_TLS_CERT_PATH', 'RPC_TLS_KEY_PATH'],
  ['RPC_TLS_KEY_PATH', 'RPC_TLS_CERT_PATH'],
  ['RPC_TLS_SERVER_NAME', 'RPC_TLS_CERT_PATH'],
  // Without TLS, clients show no certificate.
  ['RPC_TLS_CALLERS', 'RPC_TLS_CERT_PATH'],
  ['DASHBOARD_RPC_TLS_CERT_PATH', 'DASHBOARD_RPC_TLS_KEY_PATH'],
  ['DASHBOARD_RPC_TLS_KEY_PATH', 'DASHBOARD_RPC_TLS_CERT_PATH'],
  ['DASHBOARD_RPC_TLS_CERT_PATH', 'RPC_TLS_CERT_PATH'],
  // The server that npm start runs has no TLS.
  ...TEMPORAL_CONNECTION.map((name) => [name, 'TEMPORAL_ADDRESS'] as const),
] as const;

/** Pairs of settings that exclude each other. */
const EXCLUSIVE = [
  ['TEMPORAL_API_KEY', 'TEMPORAL_API_KEY_PATH'],
  ['TEMPORAL_PAYLOAD_KEYS_PATH', 'TEMPORAL_PAYLOAD_CODEC'],
] as const;

/** The parsed settings: one typed value per row of the table. */
export type Config = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** The settings of services: they do not connect to Temporal. */
export type ServicesConfig = Omit<Config, (typeof TEMPORAL_SECURITY)[number]>;

/** Reports every invalid or missing setting at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

type ParsedSettings = Record<string, unknown>;

/** The settings that a process uses, with the required ones present. */
type ConfigOf<Required extends SettingName, Unused extends SettingName> = Omit<Config, Required | Unused> & {
  readonly [Name in Required]: NonNullable<Config[Name]>;
};

/**
 * Reads the settings of a process. Throws a ConfigError that lists every invalid value and every missing setting,
 * including those that only this process requires. Unused settings are not read, so that a process holds no secret
 * that it does not need.
 */
export function readConfig<Required extends SettingName = never, Unused extends SettingName = never>(
  environment: Environment,
  {
    required = [],
    oneOf: alternatives = [],
    unused = [],
  }: { required?: readonly Required[]; oneOf?: readonly SettingName[]; unused?: readonly Unused[] } = {},
): ConfigOf<Required, Unused> {
  const faults: string[] = [];
  const config: ParsedSettings = {};
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
  const isReported = (name: SettingName) => [...required, ...unused].some((other) => other === name);
  for (const [name, companion] of COMPANIONS) {
    if (!isSet(config[name]) || environment[companion] || isReported(companion)) continue;
    faults.push(`${companion} is required with ${name}`);
  }
  if (alternatives.length > 0 && alternatives.every((name) => config[name] === undefined)) {
    faults.push(`${alternatives.join(' or ')} is required`);
  }
  faults.push(...conflicts(config));
  if (faults.length > 0) throw new ConfigError(faults);
  return config as ConfigOf<Required, Unused>;
}

const isSet = (value: unknown): boolean =>
  value !== undefined && !(Array.isArray(value) && value.length === 0);

/** The faults of valid settings that exclude each other. */
function conflicts(config: ParsedSettings): string[] {
  const faults: string[] = [];
  if (config.RPC_TLS_CERT_PATH && String(config.SERVICES_URL).startsWith('http:')) {
    faults.push('SERVICES_URL must begin with https with RPC_TLS_CERT_PATH');
  }
  const credentials = TEMPORAL_CREDENTIALS.filter((name) => config[name] !== undefined);
  if (config.TEMPORAL_TLS === false && credentials.length > 0) {
    faults.push(`TEMPORAL_TLS must not be false with ${credentials.join(', ')}`);
  }
  const usesTls = config.TEMPORAL_TLS === true || credentials.length > 0;
  // The SDK takes its host, with the brackets, for a name that is not valid.
  if (usesTls && String(config.TEMPORAL_ADDRESS).startsWith('[') && !config.TEMPORAL_TLS_SERVER_NAME) {
    faults.push('TEMPORAL_TLS_SERVER_NAME is required with TLS to an IPv6 address');
  }
  for (const [one, other] of EXCLUSIVE) {
    if (config[one] && config[other]) faults.push(`${one} must not be set with ${other}`);
  }
  return faults;
}
