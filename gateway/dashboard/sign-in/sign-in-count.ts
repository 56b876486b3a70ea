import { AuthorizationResponseError, ClientError } from 'openid-client';
import { Counter } from 'prom-client';
import { metrics } from '../../../services/platform/process/telemetry.ts';
import type { SignInFault } from './sign-in-faults.ts';

/** Caused by the provider, or by the settings for it. */
const PROVIDER_FAULTS: readonly SignInFault[] = ['untrusted', 'refused', 'unavailable'];

const signIns = new Counter({
  name: 'payments_sign_ins_total',
  help: 'Sign-ins to the dashboard, by result. Failed: the OpenID provider, or the settings for it, caused the failure.',
  labelNames: ['result'],
  registers: [metrics],
});
// Start at 0, so that the first failures are an increase for Prometheus.
for (const result of ['failed', 'succeeded']) signIns.inc({ result }, 0);

export const countSignIn = (): void => signIns.inc({ result: 'succeeded' });

/** Counts a failure, unless the browser may have caused it: anyone can forge a response of the provider that passes through it. */
export function countFailedSignIn(fault: SignInFault, error: unknown): void {
  const isThroughBrowser =
    error instanceof AuthorizationResponseError ||
    (error instanceof ClientError && error.code === 'OAUTH_INVALID_RESPONSE');
  if (PROVIDER_FAULTS.includes(fault) && !isThroughBrowser) signIns.inc({ result: 'failed' });
}
