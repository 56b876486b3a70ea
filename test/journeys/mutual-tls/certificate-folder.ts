import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type CertificateRequest,
  type createAuthority,
  issueCertificate,
} from '../../../local/certificates.ts';

const GUIDE = new URL('../../../docs/operations/certificates.md', import.meta.url);

/** The URI of a caller, as in the guide. */
export const uriOf = (name: string) => `spiffe://payments.example/${name}`;

/** A folder with certificates made by the commands of the guide. */
export class CertificateFolder implements AsyncDisposable {
  readonly #parent: string;
  readonly #path: string;

  private constructor(parent: string) {
    this.#parent = parent;
    this.#path = join(parent, 'certificates');
  }

  static async create(): Promise<CertificateFolder> {
    const folder = new CertificateFolder(await mkdtemp(join(tmpdir(), 'mutual-tls-')));
    const guide = await readFile(GUIDE, 'utf8');
    const [, commands] = /^## Make certificates\n.*?^```sh\n(.*?)^```$/ms.exec(guide)!;
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands!], { cwd: folder.#parent });
    return folder;
  }

  /** The paths of a process, as settings. */
  settings(name: string) {
    return {
      RPC_TLS_CA_CERT_PATH: this.path(name, 'ca.crt'),
      RPC_TLS_CERT_PATH: this.path(name, 'tls.crt'),
      RPC_TLS_KEY_PATH: this.path(name, 'tls.key'),
    };
  }

  path(name: string, file: string): string {
    return join(this.#path, name, file);
  }

  /** A certificate and its key, besides those of the guide; of another authority if one is given. */
  async issue(
    name: string,
    request: CertificateRequest,
    authority?: Awaited<ReturnType<typeof createAuthority>>,
  ) {
    const [certificatePem, privateKeyPem] = await Promise.all(
      ['ca.crt', 'ca.key'].map((file) => readFile(this.path('authority', file), 'utf8')),
    );
    const own = { certificatePem: certificatePem!, privateKeyPem: privateKeyPem! };
    const pair = await issueCertificate(authority ?? own, request);
    await mkdir(join(this.#path, name), { recursive: true });
    await this.write(name, 'tls.crt', pair.certificatePem);
    await this.write(name, 'tls.key', pair.privateKeyPem);
    await this.write(name, 'ca.crt', own.certificatePem);
  }

  read(name: string, file: string): Promise<string> {
    return readFile(this.path(name, file), 'utf8');
  }

  async write(name: string, file: string, content: string): Promise<void> {
    await writeFile(this.path(name, file), content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#parent, { recursive: true });
  }
}
