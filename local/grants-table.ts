import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { DescService } from '@bufbuild/protobuf';
import { requiredGrant } from '../services/platform/rpc/grants.ts';

const ROOT = new URL('../', import.meta.url);
const PAGE = new URL('docs/internal-grants.md', ROOT);
const TABLE_BLOCK = /(?<=<!-- grants -->\n).*?(?=<!-- \/grants -->)/s;

/** The services in the proto files, except those that other teams implement, by name. */
export async function declaredServices(): Promise<DescService[]> {
  const files = globSync('proto/gen/payments/!(providers)/**/*_pb.js', { cwd: ROOT });
  const modules: Record<string, unknown>[] = await Promise.all(
    files.map((file) => import(new URL(file, ROOT).href)),
  );
  const services = modules.flatMap((exported) => Object.values(exported).filter(isService));
  return services.sort((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

const isService = (value: unknown): value is DescService => (value as { kind?: unknown }).kind === 'service';

/** The page with the current table of RPCs between its markers. Throws when it has none. */
export async function withGrants(page: string): Promise<string> {
  if (!TABLE_BLOCK.test(page)) {
    throw new Error('docs/internal-grants.md has no <!-- grants --> … <!-- /grants -->');
  }
  const tables = (await declaredServices()).map(markdownTable).join('\n');
  return page.replace(TABLE_BLOCK, () => tables);
}

function markdownTable(service: DescService): string {
  const rows = service.methods.map((method) => `| ${method.name} | \`${requiredGrant(method)}\` |\n`);
  return `| \`${service.typeName}\` | Grant |\n|---|---|\n${rows.join('')}`;
}

if (import.meta.main) await writeFile(PAGE, await withGrants(await readFile(PAGE, 'utf8')));
