import { readFileSync } from 'node:fs';
import { type Config, ConfigError, readConfig } from '../services/platform/process/config.ts';
import { ALL_GRANTS } from '../services/platform/rpc/grants.ts';
import type { DataFolder } from './data-folder.ts';
import { CONNECTOR_CALLER } from './demo/connector/demo-connector.ts';
import { type GeneratedSecrets, serviceTokenEntry } from './generated-secrets.ts';

/** The caller of demo.json's token, with every grant: for scripts and examples on this machine. */
export const LOCAL_CALLER = { name: 'local', grants: new Set(ALL_GRANTS) };

const LOOPBACK = '127.0.0.0/8,::1/128';
const EVERY_ADDRESS = ['0.0.0.0', '::'];

/**
 * The settings of `npm start`: the environment, on top of the data folder's secrets. Sandbox webhooks may reach
 * loopback addresses, and the demo receiver's CA is trusted. Throws a ConfigError that lists every fault.
 */
export function localConfig(
  environment: NodeJS.ProcessEnv,
  folder: DataFolder,
  secrets: GeneratedSecrets,
  caFile: string,
): Config {
  const ownTokens = [LOCAL_CALLER, CONNECTOR_CALLER].map((caller) =>
    serviceTokenEntry(caller, secrets.serviceTokens[caller.name]!),
  );
  const config = readConfig({
    ...secrets.keyRings,
    ...environment,
    WEBHOOK_ALLOW_CIDRS: environment.WEBHOOK_ALLOW_CIDRS ?? LOOPBACK,
    WEBHOOK_EXTRA_CA: trustedCaFile(folder, caFile, environment.WEBHOOK_EXTRA_CA),
    SERVICE_TOKENS: [...ownTokens, environment.SERVICE_TOKENS].filter(Boolean).join(';'),
  });
  const { HOST, DASHBOARD_PORT, PUBLIC_URL_DASHBOARD } = config;
  // Over plain HTTP, browsers keep the session's Secure cookies only for loopback addresses.
  const loopbackUrl = EVERY_ADDRESS.includes(HOST) ? `http://127.0.0.1:${DASHBOARD_PORT}` : undefined;
  return { ...config, PUBLIC_URL_DASHBOARD: PUBLIC_URL_DASHBOARD ?? loopbackUrl };
}

/** One PEM file with the demo CA and WEBHOOK_EXTRA_CA. */
function trustedCaFile(folder: DataFolder, caFile: string, extraCa: string | undefined): string {
  if (!extraCa) return caFile;
  folder.write('certificates/trusted.pem', `${readFileSync(caFile, 'utf8')}\n${readExtraCa(extraCa)}\n`);
  return folder.file('certificates/trusted.pem');
}

function readExtraCa(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`WEBHOOK_EXTRA_CA ${file} cannot be read: ${(error as Error).message}`]);
  }
}
