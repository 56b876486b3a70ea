// @peculiar/x509 needs this polyfill loaded first.
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { DAY_MS, HOUR_MS } from '../services/platform/durations.ts';

/** A certificate, or a certificate authority, and its private key as PEM text. */
export interface CertificatePair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

export interface CertificateRequest {
  /** DNS names, IP addresses and URIs; the first is the subject. */
  readonly names: readonly string[];
  /** Whether it authenticates a server, a client, or both (a peer). Default: a server. */
  readonly holder?: 'server' | 'client' | 'peer';
  /** Default: an hour ago. */
  readonly notBefore?: Date;
  /** Default: two years from now. */
  readonly notAfter?: Date;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Creates a certificate authority for development and tests, valid for ten years. */
export async function createAuthority(): Promise<CertificatePair> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerial(),
    name: 'CN=Merchant Payments development CA',
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + 3650 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return toPair(certificate, keys.privateKey);
}

/** Issues a certificate for these names. */
export async function issueCertificate(
  authority: CertificatePair,
  { names, holder = 'server', notBefore, notAfter }: CertificateRequest,
): Promise<CertificatePair> {
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: randomSerial(),
    subject: [{ CN: [names[0] ?? 'localhost'] }],
    issuer: issuer.subject,
    notBefore: notBefore ?? new Date(Date.now() - HOUR_MS),
    notAfter: notAfter ?? new Date(Date.now() + 730 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await readPrivateKey(authority.privateKeyPem),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(
        (['server', 'client'] as const)
          .filter((side) => holder === side || holder === 'peer')
          .map((side) => x509.ExtendedKeyUsage[`${side}Auth`]),
      ),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: typeOf(value), value }))),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return toPair(certificate, keys.privateKey);
}

function typeOf(name: string): 'url' | 'ip' | 'dns' {
  if (name.includes('://')) return 'url';
  return isIP(name) === 0 ? 'dns' : 'ip';
}

function newKeys() {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function readPrivateKey(pem: string) {
  const [der] = x509.PemConverter.decode(pem);
  return webcrypto.subtle.importKey('pkcs8', der!, ALGORITHM, false, ['sign']);
}

async function toPair(
  certificate: x509.X509Certificate,
  privateKey: webcrypto.CryptoKey,
): Promise<CertificatePair> {
  const der = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return {
    certificatePem: certificate.toString('pem'),
    privateKeyPem: x509.PemConverter.encode(der, 'PRIVATE KEY'),
  };
}

/** X.509 requires a positive number, hence the leading 01. */
function randomSerial(): string {
  return `01${randomBytes(15).toString('hex')}`;
}
