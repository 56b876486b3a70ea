import { glob, readFile } from 'node:fs/promises';
import type { DescService } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

/** The names of RPCs that answer pages. */
async function pagingRpcs(): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob('proto/gen/payments/**/*_pb.js', { cwd: root })) {
    const exported: Record<string, unknown> = await import(new URL(file, root).href);
    for (const service of Object.values(exported).filter(isService)) {
      const paging = service.methods.filter(({ input }) =>
        input.fields.some(({ name }) => name === 'page_token'),
      );
      names.push(...paging.map(({ name }) => name));
    }
  }
  return names;
}

const isService = (value: unknown): value is DescService => (value as { kind?: unknown }).kind === 'service';

test('every paginated RPC runs the list test suite', async () => {
  const suites: string[] = [];
  for await (const file of glob('test/services/*/list-*.test.ts', { cwd: root })) {
    const text = await readFile(new URL(file, root), 'utf8');
    if (text.includes('describeList(')) suites.push(file.replace(/^.*\/(.*)\.test\.ts$/, '$1'));
  }
  const kebab = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  const lists = (await pagingRpcs()).map(kebab);
  expect(lists.length).toBeGreaterThan(0);
  expect(suites.sort()).toEqual(lists.sort());
});
