import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newServiceToken } from '../support/secrets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A merchant's record in a queue. */
interface Listed {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: string;
}

/** An item of a queue, in JSON. */
export interface Item {
  readonly refundCase?: Listed;
  readonly dispute?: Listed & {
    readonly response?: { readonly text: string };
    readonly evidenceCount?: number;
  };
  readonly advanceRequest?: Listed;
  readonly account?: Pick<Listed, 'merchantId' | 'environment'>;
  readonly debt?: { readonly sourceId: string; readonly openAmountMinor: string };
  readonly nextAction: string;
  readonly waitingSince: string;
}

/** The record of an item; a debt is known by its source. */
export const recordOf = ({ refundCase, dispute, advanceRequest, account, debt }: Item): Listed =>
  refundCase ?? dispute ?? advanceRequest ?? { ...account!, ...debt!, id: debt!.sourceId };

/** A section of a page: the grants that it names, and its commands in their order. */
function sectionOf(name: string, title: string) {
  const page = readFileSync(join(root, `docs/operations/${name}.md`), 'utf8');
  const section = page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
  const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, command]) => command!);
  const [, named = ''] = /^Grants: (.*)\.$/m.exec(section) ?? [];
  const grants = named.replaceAll(/[`,]/g, '').split(' ');
  return { commands, grants };
}

const [SETUP] = sectionOf('work-queues', 'Calling them').commands;
const [, LIST_EVIDENCE, GET_EVIDENCE] = sectionOf('evidence', 'Reading and attaching files').commands;

/** A command of the docs with values in place of each `<name>`. */
function filledIn(command: string, values: object): string {
  return Object.entries({ providerPayoutId: 'po_1', paymentId: randomUUID(), ...values }).reduce(
    (text, [name, value]) => text.replaceAll(`<${name}>`, String(value)),
    command,
  );
}

/** A file as the reader has saved it. */
interface ReadFile {
  readonly fileName: string;
  readonly content: Buffer;
}

/**
 * A person with the pages on work queues and evidence, a shell, and a token that has the grants of a section of the page
 * on work queues. Commands are known by their position in that section.
 */
export class DocsReader {
  readonly #section: ReturnType<typeof sectionOf>;
  readonly #name: string;
  readonly #caller: ReturnType<typeof newServiceToken>;
  #place = { folder: '', baseUrl: '' };

  constructor(name: string, title: string) {
    this.#name = name;
    this.#section = sectionOf('work-queues', title);
    this.#caller = newServiceToken(name, this.#section.grants);
  }

  /** Their entry of SERVICE_TOKENS. */
  get entry(): string {
    return this.#caller.entry;
  }

  /** Makes the reader work in a folder and call the services at this URL. */
  start(parentFolder: string, baseUrl: string): void {
    const folder = join(parentFolder, this.#name);
    mkdirSync(join(folder, '.data'), { recursive: true });
    writeFileSync(join(folder, '.data/demo.json'), JSON.stringify({ grpc: { token: this.#caller.token } }));
    this.#place = { folder, baseUrl };
  }

  /** The oldest item that a command lists. */
  async oldest(command: number): Promise<Item | undefined> {
    const { items = [] }: { items?: Item[] } = JSON.parse(await this.#run(this.#section.commands[command]!));
    return items[0];
  }

  /** Does the work on an item with a command, in which one word may be replaced. */
  async finish(item: Item, command: number, [word, other] = ['', '']): Promise<void> {
    const text = this.#section.commands[command]!.replace(word!, other!);
    await this.#run(filledIn(text, recordOf(item)));
  }

  /** Lists and downloads the files of a case or dispute. */
  async filesOf(item: Item): Promise<ReadFile[]> {
    const record = recordOf(item);
    const list = item.dispute ? LIST_EVIDENCE!.replace('refundCaseId', 'disputeId') : LIST_EVIDENCE!;
    const { evidence = [] }: { evidence?: { id: string; fileName: string }[] } = JSON.parse(
      await this.#run(filledIn(list, record)),
    );
    const files: ReadFile[] = [];
    for (const { id: evidenceId, fileName } of evidence) {
      const extension = fileName.split('.').at(-1)!;
      await this.#run(filledIn(GET_EVIDENCE!, { ...record, evidenceId, extension }));
      files.push({ fileName, content: readFileSync(join(this.#place.folder, `evidence.${extension}`)) });
    }
    return files;
  }

  async #run(command: string): Promise<string> {
    const { folder, baseUrl } = this.#place;
    // The program that npx runs, without its search for the package.
    const npx = `npx() { "$@"; }`;
    const setup = SETUP!.replace('http://127.0.0.1:8082', baseUrl);
    const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
    const script = ['set -e', npx, setup, command].join('\n');
    const env = { ...process.env, PATH };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env });
    return stdout;
  }
}
