import { readFileSync } from 'node:fs';
import { parseCertificates } from '../process/certificate-expiry.ts';
import type { Config } from '../process/config.ts';
import type { EnvironmentName } from '../tenant.ts';
import { createEgressGuard, type EgressGuard } from './egress-guard.ts';

export type EnvironmentGuards = Readonly<Record<EnvironmentName, EgressGuard>>;

/** The settings of the guards. */
export type EgressConfig = Pick<
  Config,
  'WEBHOOK_ALLOW_CIDRS' | 'WEBHOOK_ALLOWED_PORTS' | 'WEBHOOK_EXTRA_CA' | 'WEBHOOK_EGRESS_PROXY'
>;

/**
 * Creates the guard of each environment from the settings: private addresses are never allowed for live.
 * @throws an Error that names WEBHOOK_EXTRA_CA when the file cannot be read or has no certificates.
 */
export function createEnvironmentGuards(config: EgressConfig): EnvironmentGuards {
  const settings = {
    allowedPorts: config.WEBHOOK_ALLOWED_PORTS,
    extraCa: config.WEBHOOK_EXTRA_CA && readExtraCa(config.WEBHOOK_EXTRA_CA),
    proxyUrl: config.WEBHOOK_EGRESS_PROXY,
  };
  return {
    live: createEgressGuard(settings),
    test: createEgressGuard({ ...settings, allowCidrs: config.WEBHOOK_ALLOW_CIDRS }),
  };
}

export async function closeGuards({ live, test }: EnvironmentGuards): Promise<void> {
  await Promise.all([live.close(), test.close()]);
}

function readExtraCa(path: string): string {
  try {
    const pem = readFileSync(path);
    // OpenSSL ignores what is not a certificate.
    parseCertificates(pem);
    return pem.toString();
  } catch (error) {
    throw new Error(`WEBHOOK_EXTRA_CA cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
