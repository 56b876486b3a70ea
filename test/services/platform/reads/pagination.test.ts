import { randomBytes, randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { KeyRing } from '../../../../services/platform/key-ring.ts';
import { type ListScope, Pagination } from '../../../../services/platform/reads/pagination.ts';

const key = (version: number) => `v${version}:${randomBytes(32).toString('base64')}`;
const [OLD, NEW] = [key(1), key(2)];
const ROW = { at: timestampFromMs(Date.UTC(2026, 6, 2, 13, 5, 0, 7)), id: randomUUID() };
const SCOPE: ListScope<typeof ROW> = {
  tenant: { merchantId: randomUUID(), environment: 'live' },
  list: 'things',
  filters: { status: 'PAID', orderId: undefined },
  order: { columns: ['at', 'id'], direction: 'desc' },
};

/** Its pages are read by the test. */
function paginationOf(keys: string): Pagination {
  return new Pagination({ readList: async () => [] }, KeyRing.parse(keys));
}

async function cut(keys: string, scope = SCOPE, row = ROW) {
  const pagination = paginationOf(keys);
  const page = await pagination.page(scope, { pageSize: 1, pageToken: '' }, async () => [row, row]);
  return page.nextPageToken;
}

/** Where the page of a token starts. */
async function startOf(keys: string, pageToken: string, scope = SCOPE) {
  const pagination = paginationOf(keys);
  let start: (string | undefined)[] = [];
  await pagination.page(scope, { pageSize: 1, pageToken }, async ({ after, afterTie }) => {
    start = [after, afterTie];
    return [];
  });
  return start;
}

it('a token marks the position of the last row of its page, also after a key rotation', async () => {
  const token = await cut(OLD);
  for (const keys of [OLD, `${OLD},${NEW}`, `${NEW},${OLD}`]) {
    expect(await startOf(keys, token)).toEqual(['2026-07-02T13:05:00.007Z', ROW.id]);
  }
  expect(await startOf(`${NEW},${OLD}`, await cut(`${NEW},${OLD}`))).toHaveLength(2);
});

it('a token is rejected once its key was removed, or its version has another key', async () => {
  const token = await cut(OLD);
  for (const keys of [NEW, key(1)]) {
    await expect(startOf(keys, token)).rejects.toMatchObject({ reason: 'INVALID_PAGE_TOKEN' });
  }
  await expect(startOf(OLD, await cut(`${NEW},${OLD}`))).rejects.toThrow('page_token');
});

it('a token is bound to its list and the list’s order', async () => {
  const token = await cut(OLD);
  const others: ListScope<typeof ROW>[] = [
    { ...SCOPE, list: 'other-things' },
    { ...SCOPE, order: { columns: ['at', 'id'], direction: 'asc' } },
    { ...SCOPE, order: { columns: ['id'], direction: 'desc' } },
    { ...SCOPE, filters: { ...SCOPE.filters, orderId: 'PAID' } },
    { ...SCOPE, filters: { orderId: 'PAID' } },
  ];
  for (const scope of others) await expect(startOf(OLD, token, scope)).rejects.toThrow('page_token');
});

it('a token is rejected if any of it was changed', async () => {
  const token = await cut(OLD);
  for (let at = 0; at < token.length; at += 1) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    await expect(startOf(OLD, changed)).rejects.toMatchObject({ reason: 'INVALID_PAGE_TOKEN' });
  }
  const others = [token.slice(0, -1), token.slice(1), token.slice(0, 16), `${token}A`, `${token}=`];
  for (const other of [...others, `${token.slice(0, -1)}ł`, 'A', '%', 'ł'])
    await expect(startOf(OLD, other), other).rejects.toMatchObject({ reason: 'INVALID_PAGE_TOKEN' });
});

it('a page has 50 rows if its size is not given', async () => {
  const pagination = paginationOf(OLD);
  const more = async ({ limit }: { limit: number }) => Array<typeof ROW>(limit).fill(ROW);
  const { rows, nextPageToken } = await pagination.page(SCOPE, { pageSize: 0, pageToken: '' }, more);
  expect([rows.length, nextPageToken !== '']).toEqual([50, true]);
});

it('an absent filter equals an undefined one', async () => {
  const token = await cut(OLD);
  expect(await startOf(OLD, token, { ...SCOPE, filters: { status: 'PAID' } })).toHaveLength(2);
});

it('a token reveals nothing about its owner', async () => {
  const token = await cut(OLD);
  const content = Buffer.from(token.slice(0, -16), 'base64url').toString();
  expect(content).toBe(`1|2026-07-02T13:05:00.007Z|${ROW.id}`);
});
