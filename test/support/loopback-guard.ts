import {
  createEgressGuard,
  type EgressGuard,
  type EgressParts,
  type EgressSettings,
} from '../../services/platform/egress/egress-guard.ts';
import { portRanges } from '../../services/platform/process/setting-parsers.ts';
import { testAuthority } from './tls-receiver.ts';

/**
 * A guard as in development: loopback is exempt, and the test authority is trusted. Every name resolves to loopback.
 */
export function createLoopbackGuard(
  settings: Partial<EgressSettings> = {},
  parts: EgressParts = {},
): DisposableGuard {
  const guard = createEgressGuard(
    {
      allowedPorts: portRanges('443,1024-65535'),
      allowCidrs: ['127.0.0.0/8', '::1/128'],
      extraCa: testAuthority.certificatePem,
      ...settings,
    },
    settings.dnsServers ? parts : { dnsLookup: async () => ['127.0.0.1'], ...parts },
  );
  return Object.assign(Object.create(guard, {}), { [Symbol.asyncDispose]: () => guard.close() });
}

export type DisposableGuard = EgressGuard & AsyncDisposable;

/** POSTs to a URL by the guard's connections, leaving out the check of the URL. */
export async function post(guard: EgressGuard, href: string, poolKey = 'subscription'): Promise<number> {
  const url = new URL(href);
  const { statusCode, body } = await guard
    .dispatcherFor(poolKey, {
      href: url.href,
      uniqueForm: url.href,
      host: { kind: 'ADDRESS', address: '' },
      origin: url.origin,
      path: url.pathname,
    })
    .request({ method: 'POST', path: url.pathname, body: '{}' });
  await body.dump();
  return statusCode;
}
