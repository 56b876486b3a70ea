import { X509Certificate } from 'node:crypto';
import { type CertificatePair, createAuthority, issueCertificate } from '../certificates.ts';
import type { DataFolder } from '../data-folder.ts';

const AUTHORITY = 'certificates/demo-ca';
const LEAF = 'certificates/demo-receiver';
const NAMES = ['localhost', '127.0.0.1', '::1'];
const DAY_MS = 24 * 60 * 60 * 1000;
const RENEW_BEFORE_MS = 60 * DAY_MS;

/** The demo receiver's certificate, and the path of the CA (PEM) that whoever calls it has to trust. */
export interface DemoCertificate extends CertificatePair {
  readonly caFile: string;
}

/** Reads the certificate of a data folder; makes it and its CA the first time, and anew when it is soon to end. */
export async function loadDemoCertificate(folder: DataFolder): Promise<DemoCertificate> {
  const authority = await loadOrMake(folder, AUTHORITY, () => true, createAuthority);
  const issuer = new X509Certificate(authority.certificatePem);
  const isIssued = (certificate: X509Certificate) => certificate.verify(issuer.publicKey);
  const leaf = await loadOrMake(folder, LEAF, isIssued, () => issueCertificate(authority, { names: NAMES }));
  return { ...leaf, caFile: folder.file(`${AUTHORITY}.pem`) };
}

async function loadOrMake(
  folder: DataFolder,
  name: string,
  isFit: (certificate: X509Certificate) => boolean,
  make: () => Promise<CertificatePair>,
): Promise<CertificatePair> {
  const [certificatePem, privateKeyPem] = [folder.read(`${name}.pem`), folder.read(`${name}.key`)];
  if (certificatePem && privateKeyPem) {
    const certificate = new X509Certificate(certificatePem);
    const isLasting = certificate.validToDate.getTime() - Date.now() > RENEW_BEFORE_MS;
    if (isLasting && isFit(certificate)) return { certificatePem, privateKeyPem };
  }
  const made = await make();
  folder.write(`${name}.key`, made.privateKeyPem);
  folder.write(`${name}.pem`, made.certificatePem);
  return made;
}
