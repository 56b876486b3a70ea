import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { declaredServices } from '../../local/grants-table.ts';

const root = new URL('../../', import.meta.url);

/** The names of the RPCs that return pages. */
async function pagingRpcs(): Promise<string[]> {
  const methods = (await declaredServices()).flatMap((service) => service.methods);
  const paging = methods.filter(({ input }) => input.fields.some(({ name }) => name === 'page_token'));
  return paging.map(({ name }) => name);
}

test('every paginated RPC runs the list test suite', async () => {
  const suites: string[] = [];
  for await (const file of glob('test/services/**/list-*.test.ts', { cwd: root })) {
    const text = await readFile(new URL(file, root), 'utf8');
    if (/\b(testList|describeList|describeQueue)\(/.test(text))
      suites.push(file.replace(/^.*\/(.*)\.test\.ts$/, '$1'));
  }
  const kebab = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  const lists = (await pagingRpcs()).map(kebab);
  expect(lists.length).toBeGreaterThan(0);
  expect(suites.sort()).toEqual(lists.sort());
});
