import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { createAuthority, issueCertificate } from '../../../../local/certificates.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { openTlsFiles } from '../../../../services/platform/process/tls-files.ts';
import { openTemporalCredentials } from '../../../../workflows/temporal/temporal-connection.ts';
import { scrape, UNTIL_SCRAPED } from '../../../support/scrape.ts';

/** Whole seconds, as certificates have them. */
const NOW_S = Math.floor(Date.now() / 1_000);
const daysFromNow = (days: number) => NOW_S + days * 86_400;

const folder = await mkdtemp(join(tmpdir(), 'expiry-'));
const authority = await createAuthority();
afterAll(() => rm(folder, { recursive: true }));

const path = (name: string) => join(folder, name);
const issue = (days: number) =>
  issueCertificate(authority, { names: ['services'], notAfter: new Date(daysFromNow(days) * 1_000) });

/** From when and until when a certificate is valid, by /metrics. */
async function validity(certificate: string) {
  const sample = await scrape();
  return (['not_before', 'not_after'] as const).map((end) =>
    sample(`payments_certificate_${end}_timestamp_seconds{certificate="${certificate}"}`),
  );
}

it('metrics report the expiry of the certificates in use, even after they are replaced', async () => {
  const [leaf, intermediate] = await Promise.all([issue(90), issue(30)]);
  await writeFile(path('cert.pem'), `${leaf.certificatePem}\n${intermediate.certificatePem}`);
  await writeFile(path('key.pem'), leaf.privateKeyPem);
  // An authority that is being replaced: the earlier one may expire.
  await writeFile(path('ca.pem'), `${(await issue(10)).certificatePem}\n${authority.certificatePem}`);
  const paths = { caCertPath: path('ca.pem'), certPath: path('cert.pem'), keyPath: path('key.pem') };
  const files = openTlsFiles('of-the-test', paths, createLogger('silent'));
  try {
    const [notBefore, notAfter] = await validity('of-the-test');
    expect(notBefore).toBeLessThan(NOW_S);
    expect(notAfter).toBe(daysFromNow(30));
    expect((await validity('of-the-test-ca'))[1]).toBeGreaterThan(daysFromNow(3_000));
    const renewed = await issue(60);
    await writeFile(path('cert.pem'), renewed.certificatePem);
    await writeFile(path('key.pem'), renewed.privateKeyPem);
    await vi.waitFor(
      async () => expect((await validity('of-the-test'))[1]).toBe(daysFromNow(60)),
      UNTIL_SCRAPED,
    );
  } finally {
    files.close();
  }
  const security = {
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('ca.pem'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: path('cert.pem'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: path('key.pem'),
  };
  openTemporalCredentials('temporal.example:7233', security, createLogger('silent')).close();
  expect((await validity('temporal'))[1]).toBe(daysFromNow(60));
});
