import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificatePair, createAuthority, issueCertificate } from '../../local/certificates.ts';
import type { TemporalTls } from './temporal-on-postgres.ts';
import { testAuthority } from './tls-receiver.ts';

const NAMES = { server: 'localhost', client: 'worker' } as const;

/** The PEM files of a Temporal server that requires a certificate of its clients, and those of a worker. */
export class TemporalCertificates implements AsyncDisposable {
  readonly folder: string;
  /** Has signed nothing yet. The server trusts it besides the authority that has signed all certificates. */
  readonly nextAuthority: CertificatePair;
  /** With which a worker connects. */
  readonly settings;
  /** The lines of the worker's key. */
  secrets: readonly string[] = [];
  readonly #own: CertificatePair;

  private constructor(folder: string, nextAuthority: CertificatePair, own: CertificatePair) {
    this.folder = folder;
    this.nextAuthority = nextAuthority;
    this.#own = own;
    this.settings = {
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: this.#path('ca.pem'),
      TEMPORAL_TLS_CLIENT_CERT_PATH: this.#path('client.pem'),
      TEMPORAL_TLS_CLIENT_KEY_PATH: this.#path('client.key'),
    };
  }

  static async create(): Promise<TemporalCertificates> {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-tls-'));
    const own = await issueCertificate(testAuthority, { names: ['localhost'], holder: 'peer' });
    const certificates = new TemporalCertificates(folder, await createAuthority(), own);
    await certificates.issue('server');
    await certificates.issue('client');
    await certificates.trust(testAuthority);
    await writeFile(certificates.#path('both-ca.pem'), certificates.#bothAuthorities());
    return certificates;
  }

  /** For `startTemporalOnPostgres`. */
  get server(): TemporalTls {
    return {
      caFile: this.#path('both-ca.pem'),
      certificateFile: this.#path('server.pem'),
      keyFile: this.#path('server.key'),
      client: {
        serverRootCACertificate: Buffer.from(this.#bothAuthorities()),
        clientCertPair: {
          crt: Buffer.from(this.#own.certificatePem),
          key: Buffer.from(this.#own.privateKeyPem),
        },
      },
    };
  }

  /** Replaces the certificate and key of the server or of the worker. */
  async issue(holder: keyof typeof NAMES, authority: CertificatePair = testAuthority): Promise<void> {
    const pair = await issueCertificate(authority, { names: [NAMES[holder]], holder: 'peer' });
    await writeFile(this.#path(`${holder}.pem`), pair.certificatePem);
    await writeFile(this.#path(`${holder}.key`), pair.privateKeyPem);
    if (holder === 'client')
      this.secrets = pair.privateKeyPem.split('\n').filter((line) => !line.startsWith('-'));
  }

  /** Replaces the authority that the worker trusts. */
  async trust({ certificatePem }: CertificatePair): Promise<void> {
    await writeFile(this.#path('ca.pem'), certificatePem);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  #path(file: string): string {
    return join(this.folder, file);
  }

  #bothAuthorities(): string {
    return [testAuthority, this.nextAuthority].map(({ certificatePem }) => certificatePem).join('\n');
  }
}
