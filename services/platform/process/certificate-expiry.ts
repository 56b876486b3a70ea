import { X509Certificate } from 'node:crypto';
import { Gauge } from 'prom-client';
import { metrics } from './telemetry.ts';

const gaugeOf = (name: string, help: string) =>
  new Gauge({ name, help, labelNames: ['certificate'], registers: [metrics] });

const notBefore = gaugeOf(
  'payments_certificate_not_before_timestamp_seconds',
  'From when on a certificate in use is valid.',
);
const notAfter = gaugeOf(
  'payments_certificate_not_after_timestamp_seconds',
  'When a certificate in use expires; of a certificate with its chain, the first to expire.',
);

/**
 * Reports the expiry of a certificate that this process uses in the metrics. Call it again when the certificate is
 * replaced.
 * @param name the certificate's name in the metrics.
 * @param pem the certificate, followed by intermediate authorities; the earliest expiry counts. Throws if it has none.
 */
export function watchCertificate(name: string, pem: Buffer): void {
  watch(name, soonestFirst(pem)[0]!);
}

/**
 * The same for the authorities that this process trusts.
 * @param pem any number of certificates. The last expiry counts, because there are several while an authority is
 *   being replaced.
 */
export function watchAuthorities(name: string, pem: Buffer): void {
  watch(name, soonestFirst(pem).at(-1)!);
}

function watch(certificate: string, { validFromDate, validToDate }: X509Certificate): void {
  notBefore.set({ certificate }, validFromDate.getTime() / 1_000);
  notAfter.set({ certificate }, validToDate.getTime() / 1_000);
}

const soonestFirst = (pem: Buffer) =>
  parseCertificates(pem).sort((a, b) => a.validToDate.getTime() - b.validToDate.getTime());

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** The certificates of a PEM file, in order. Throws if one cannot be read or there is none. */
export function parseCertificates(pem: Buffer): X509Certificate[] {
  const found = pem.toString('latin1').match(PEM_CERTIFICATE);
  if (!found) throw new Error('contains no certificate');
  try {
    return found.map((certificate) => new X509Certificate(certificate));
  } catch (error) {
    throw new Error('not a certificate', { cause: error });
  }
}
