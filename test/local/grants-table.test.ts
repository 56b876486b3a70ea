import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { withGrants } from '../../local/grants-table.ts';

test('docs/internal-grants.md lists every RPC with its grant (npm run grants writes it)', async () => {
  const page = await readFile(new URL('../../docs/internal-grants.md', import.meta.url), 'utf8');
  expect(page).toBe(await withGrants(page));
});

test('a page without markers is rejected', async () => {
  await expect(withGrants('# Grants\n')).rejects.toThrow('<!-- grants -->');
});
