import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CertificatePair, createAuthority, issueCertificate } from '../../../../local/certificates.ts';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { openTlsFiles, type TlsFiles } from '../../../../services/platform/process/tls-files.ts';
import { scrape } from '../../../support/scrape.ts';

const INTERVAL_MS = 5_000;

let files: TlsFiles;
let replaced: number;
const folder = await mkdtemp(join(tmpdir(), 'credentials-'));
const authority = await createAuthority();
const former = await issueCertificate(authority, { names: ['services'] });
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await write(former, authority.certificatePem);
  const paths = { caCertPath: path('ca'), certPath: path('cert'), keyPath: path('key') };
  files = openTlsFiles('of-the-test', paths, createLogger('silent'));
  replaced = 0;
  files.onReplaced(() => (replaced += 1));
});
afterEach(() => {
  files.close();
  vi.useRealTimers();
});

const path = (name: 'ca' | 'cert' | 'key') => join(folder, `${name}.pem`);

async function write({ certificatePem, privateKeyPem }: CertificatePair, ca: string): Promise<void> {
  await writeFile(path('cert'), certificatePem);
  await writeFile(path('key'), privateKeyPem);
  await writeFile(path('ca'), ca);
}

/** The files are read twice: a certificate that is replaced a moment before its key is no fault. */
const read = () => vi.advanceTimersByTime(2 * INTERVAL_MS);
const refused = async () => (await scrape())('payments_credential_files_refused{files="of-the-test"}');
const issue = (notAfter?: Date) =>
  issueCertificate(authority, { names: ['services'], ...(notAfter && { notAfter }) });

const FAULTS: readonly (readonly [what: string, cause: () => Promise<unknown>])[] = [
  ['an authority that is empty', () => writeFile(path('ca'), '')],
  ['an authority that is half written', () => writeFile(path('ca'), authority.certificatePem.slice(0, 300))],
  ['an authority that is missing', () => unlink(path('ca'))],
  ['a certificate that is missing', () => unlink(path('cert'))],
  [
    'a certificate that has expired',
    async () => write(await issue(new Date(Date.now() - HOUR_MS)), authority.certificatePem),
  ],
  ['a key of another certificate', async () => writeFile(path('key'), (await issue()).privateKeyPem)],
  ['a key that is no key', () => writeFile(path('key'), 'no key')],
];

it.each(FAULTS)(
  '%s leaves the previous files in use until usable ones replace them',
  async (_what, cause) => {
    const before = files.current;
    await cause();
    read();
    expect([await refused(), replaced]).toEqual([1, 0]);
    expect(files.current).toBe(before);
    const next = await issue();
    const ca = `${(await createAuthority()).certificatePem}\n${authority.certificatePem}`;
    await write(next, ca);
    read();
    expect([await refused(), replaced]).toEqual([0, 1]);
    expect(files.current).toEqual({
      ca: Buffer.from(ca),
      cert: Buffer.from(next.certificatePem),
      key: Buffer.from(next.privateKeyPem),
    });
  },
);
