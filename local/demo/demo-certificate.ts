import { X509Certificate } from 'node:crypto';
import { DAY_MS } from '../../services/platform/durations.ts';
import { type CertificatePair, createAuthority, issueCertificate } from '../certificates.ts';
import type { DataFolder } from '../data-folder.ts';

const AUTHORITY = 'certificates/demo-ca';
const LEAF = 'certificates/demo-receiver';
const NAMES = ['localhost', '127.0.0.1', '::1'];
const RENEW_BEFORE_MS = 60 * DAY_MS;

/** The demo receiver's certificate, and the path of its CA's PEM file, which callers must trust. */
export interface DemoCertificate extends CertificatePair {
  readonly caFile: string;
}

/** Reads the certificate of a data folder. Creates it and its CA on first use, and renews one that expires soon. */
export async function loadDemoCertificate(folder: DataFolder): Promise<DemoCertificate> {
  const authority = await loadOrCreate(folder, AUTHORITY, () => true, createAuthority);
  const issuer = new X509Certificate(authority.certificatePem);
  const isIssued = (certificate: X509Certificate) => certificate.verify(issuer.publicKey);
  const leaf = await loadOrCreate(folder, LEAF, isIssued, () =>
    issueCertificate(authority, { names: NAMES }),
  );
  return { ...leaf, caFile: folder.file(`${AUTHORITY}.pem`) };
}

async function loadOrCreate(
  folder: DataFolder,
  name: string,
  isValid: (certificate: X509Certificate) => boolean,
  create: () => Promise<CertificatePair>,
): Promise<CertificatePair> {
  const [certificatePem, privateKeyPem] = [folder.read(`${name}.pem`), folder.read(`${name}.key`)];
  if (certificatePem && privateKeyPem) {
    const certificate = new X509Certificate(certificatePem);
    const expiresSoon = certificate.validToDate.getTime() - Date.now() < RENEW_BEFORE_MS;
    if (!expiresSoon && isValid(certificate)) return { certificatePem, privateKeyPem };
  }
  const created = await create();
  folder.write(`${name}.key`, created.privateKeyPem);
  folder.write(`${name}.pem`, created.certificatePem);
  return created;
}
