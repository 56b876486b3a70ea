import type { Config } from '../../../services/platform/process/config.ts';

const THIS_MACHINE = ['127.0.0.1', '[::1]', 'localhost'];

/** Whether what goes to an address is out of others' sight: over TLS, or on this machine. */
export function isSecureAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || THIS_MACHINE.includes(hostname);
}

/** What keeps people from signing in with these settings, in a sentence each. */
export function signInFaults({
  HOST,
  PUBLIC_URL_DASHBOARD,
  OIDC_ISSUER,
}: Pick<Config, 'HOST' | 'PUBLIC_URL_DASHBOARD' | 'OIDC_ISSUER'>): string[] {
  const faults: string[] = [];
  if (!isSecureAddress(PUBLIC_URL_DASHBOARD ?? `http://${HOST}`)) {
    faults.push('PUBLIC_URL_DASHBOARD must be an https URL: browsers keep no session otherwise');
  }
  if (OIDC_ISSUER !== undefined && !isSecureAddress(OIDC_ISSUER)) {
    faults.push('OIDC_ISSUER must be an https URL, but for one of this machine');
  }
  return faults;
}
