import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST_FOLDER } from './test-folder.ts';
import { testAuthority } from './tls-receiver.ts';

let authorityFile: string | undefined;

/** Settings under which sandbox webhooks reach the receivers of this test file. */
export function loopbackSettings(): { WEBHOOK_ALLOW_CIDRS: string; WEBHOOK_EXTRA_CA: string } {
  authorityFile ??= writeAuthority();
  return { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128', WEBHOOK_EXTRA_CA: authorityFile };
}

/** The file is deleted with the folder of the test run or, outside of one, with its process. */
function writeAuthority(): string {
  const folder = mkdtempSync(join(process.env[TEST_FOLDER] ?? tmpdir(), 'payments-ca-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ca.pem');
  writeFileSync(file, testAuthority.certificatePem);
  return file;
}
