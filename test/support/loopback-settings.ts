import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testAuthority } from './tls-receiver.ts';

/** Settings under which sandbox webhooks reach the receivers of this test file. */
export function loopbackSettings(): { WEBHOOK_ALLOW_CIDRS: string; WEBHOOK_EXTRA_CA: string } {
  const file = join(mkdtempSync(join(tmpdir(), 'payments-ca-')), 'ca.pem');
  writeFileSync(file, testAuthority.certificatePem);
  return { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128', WEBHOOK_EXTRA_CA: file };
}
