import type { DemoAccess } from './demo-data.ts';

/** The name of the file in DATA_DIR. */
export const DEMO_FILE = 'demo.json';

/** demo.json: what scripts and examples need to use a running `npm start`. */
export interface DemoFile {
  readonly live: DemoAccess['live'] & { baseUrl: string };
  readonly sandbox: DemoAccess['sandbox'] & { baseUrl: string };
  readonly other: DemoAccess['other'];
  readonly grpc: { baseUrl: string; token: string };
  /** The operations listener: /healthz, /readyz, /metrics. */
  readonly operations: { baseUrl: string };
  /** `email` and `password` of an administrator, unless OIDC_ISSUER names an external provider. */
  readonly dashboard: { baseUrl: string; email?: string; password?: string };
  readonly temporal: { address: string; ui?: string | undefined; namespace: string };
  /** `ca`: path of the PEM file. */
  readonly receiver: { url: string; ca: string };
}
