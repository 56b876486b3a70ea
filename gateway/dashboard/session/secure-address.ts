import type { Config } from '../../../services/platform/process/config.ts';
import { listeningUrl } from '../../../services/platform/process/listening-url.ts';

const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];

/** Whether traffic to a URL is protected: by TLS, or because it stays on this machine. */
export function isSecureAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || LOOPBACK_HOSTS.includes(hostname);
}

/** Why nobody could sign in with these settings, one sentence per problem; empty when they work. */
export function signInFaults({
  HOST,
  PUBLIC_URL_DASHBOARD,
  OIDC_ISSUER,
}: Pick<Config, 'HOST' | 'PUBLIC_URL_DASHBOARD' | 'OIDC_ISSUER'>): string[] {
  const faults: string[] = [];
  if (!isSecureAddress(PUBLIC_URL_DASHBOARD ?? listeningUrl(HOST))) {
    faults.push(
      'PUBLIC_URL_DASHBOARD must be an https URL: browsers do not store the session cookie otherwise',
    );
  }
  if (OIDC_ISSUER !== undefined && !isSecureAddress(OIDC_ISSUER)) {
    faults.push('OIDC_ISSUER must be an https URL, unless it is on this machine');
  }
  return faults;
}
