import type { EnvironmentName } from '../../services/platform/tenant.ts';

/** What the documentation says of the listener that serves it. */
export interface Listener {
  readonly environment: EnvironmentName;
  /** Where merchants reach it, without a slash at the end. */
  readonly baseUrl: string;
  /** Likewise of the other environment's listener; undefined where it is not known. */
  readonly otherUrl: string | undefined;
  /** Requests per second of one key. */
  readonly keyLimit: number;
  /** Requests per second of one address, without a valid key. */
  readonly addressLimit: number;
  /** Milliseconds in which a request must have arrived. */
  readonly requestTimeoutMs: number;
}
