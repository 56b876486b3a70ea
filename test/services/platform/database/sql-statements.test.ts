import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'libpg-query';
import { expect, it } from 'vitest';
import { sqlStatements } from '../../../../services/platform/database/sql-statements.ts';

const MIGRATIONS = new URL('../../../../services/migrations/', import.meta.url);

/** Positions in the text. */
const POSITION = /location$|_start$|_end$/;

/** The parse trees of statements, as PostgreSQL's own parser reads them. */
async function treesOf(sql: string): Promise<unknown[]> {
  const { stmts = [] } = (await parse(sql)) as { stmts?: { stmt: unknown }[] };
  return stmts.map(({ stmt }) =>
    JSON.parse(JSON.stringify(stmt, (key, value) => (POSITION.test(key) ? undefined : value))),
  );
}

it('every migration has the same statements one by one as in one text', async () => {
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql'));
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    const sql = await readFile(new URL(name, MIGRATIONS), 'utf8');
    const each = await Promise.all(sqlStatements(sql).map(treesOf));
    expect(each, name).toEqual((await treesOf(sql)).map((tree) => [tree]));
  }
});
