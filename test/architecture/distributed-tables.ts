import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { vi } from 'vitest';
import { tablesOfAnyMerchant } from './merchant-predicate.ts';

/** Distributes the tables. */
export const DISTRIBUTION = new URL(
  '../../services/platform/database/distribute-by-merchant.sql',
  import.meta.url,
);

/** The tables that are distributed by merchant. */
export async function distributedTables(): Promise<readonly string[]> {
  const [, names] = /array\[([^\]]*)\]/.exec(await readFile(DISTRIBUTION, 'utf8'))!;
  return [...names!.matchAll(/'([a-z_.]+)'/g)].map(([, table]) => table!);
}

/** Records every statement that this process sends to PostgreSQL, until mocks are restored. */
export function recordStatements(): Set<string> {
  const statements = new Set<string>();
  const send = pg.Client.prototype.query as (...call: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: unknown, ...call: unknown[]) {
    const [first] = call as [string | { readonly text?: string }];
    const text = typeof first === 'string' ? first : first.text;
    if (text) statements.add(text);
    return send.apply(this, call);
  } as never);
  return statements;
}

/** The distributed tables that statements read or write without naming a merchant, each with its statement. */
export async function unscopedStatements(statements: Iterable<string>, distributed: readonly string[]) {
  const found = await Promise.all(
    [...statements].map(async (sql) => (await tablesOfAnyMerchant(sql)).map((table) => ({ table, sql }))),
  );
  return found.flat().filter(({ table }) => distributed.includes(table));
}
