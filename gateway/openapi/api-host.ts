import type { EnvironmentName } from '../../services/platform/tenant.ts';

/** The host of one environment of the public API, as its documentation describes it. */
export interface ApiHost {
  readonly environment: EnvironmentName;
  /** The public URL, without a trailing slash. */
  readonly baseUrl: string;
  /** The public URL of the other environment; undefined if not configured. */
  readonly otherUrl: string | undefined;
  /** The public URL of the dashboard; undefined if not configured. */
  readonly dashboardUrl: string | undefined;
  /** CIDRs from which webhooks leave; empty if not configured. */
  readonly egressAddresses: readonly string[];
  /** Requests per second per API key. */
  readonly keyLimit: number;
  /** Requests per second per address without a valid key. */
  readonly addressLimit: number;
  /** The time within which a request must arrive, in milliseconds. */
  readonly requestTimeoutMs: number;
}
