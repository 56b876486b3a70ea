import type { EnvironmentName } from '../../services/platform/tenant.ts';

/** The facts about a listener that its documentation shows. */
export interface Listener {
  readonly environment: EnvironmentName;
  /** The public URL, without a trailing slash. */
  readonly baseUrl: string;
  /** The public URL of the other environment; undefined if not configured. */
  readonly otherUrl: string | undefined;
  /** Requests per second per API key. */
  readonly keyLimit: number;
  /** Requests per second per address without a valid key. */
  readonly addressLimit: number;
  /** The time within which a request must arrive, in milliseconds. */
  readonly requestTimeoutMs: number;
}
