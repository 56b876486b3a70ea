import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { HOSTILE, someOf } from './hostile.ts';
import {
  addressOf,
  environmentOf,
  fieldsOf,
  idFieldsOf,
  idNameOf,
  nameOf,
  type ProbeTarget,
  peopleFor,
  permitted,
  targetsOf,
} from './probe-target.ts';
import { makeWorlds, storedOf } from './probe-world.ts';

/** Addresses, queries and forms are never trusted, on any page or action. */

const fixture = await sharedDashboard();
const own = await makeWorlds(fixture);
const others = await makeWorlds(fixture);

type Ids = Readonly<Record<string, string>>;

const stored = () =>
  storedOf(
    fixture,
    [own, others].flatMap(({ live, test }) => [live.merchantId, test.merchantId]),
  );

async function expectNothingChanged(probe: () => Promise<void>): Promise<void> {
  const before = await stored();
  await probe();
  expect(await stored()).toEqual(before);
}

/** Requests a target of the person's own merchant with ids of another one. */
function come(target: ProbeTarget, ids: Ids, fields: Ids = ids) {
  const world = own[environmentOf(target)];
  const visitor = peopleFor(target, world).enough;
  const address = addressOf(target, world.merchantId, ids);
  if (target.method === 'GET') return ask(visitor, address);
  return send(visitor, address, { ...fieldsOf(target, { ids: fields }), ...visitor.proof() });
}

const parametersOf = (target: ProbeTarget) =>
  [...target.path.matchAll(/:(\w+)/g)]
    .map(([, name]) => idNameOf(target, name!))
    .filter((name) => name !== 'name');

/** The sandbox's panel accepts any sale id as one of the merchant's own. */
const UNKNOWN = 'saleId';
const knownParametersOf = (target: ProbeTarget) => parametersOf(target).filter((name) => name !== UNKNOWN);

test('resources of another merchant can neither be read nor changed', async () => {
  let probed = 0;
  await expectNothingChanged(async () => {
    for (const target of targetsOf(fixture)) {
      const [mine, theirs] = [own[environmentOf(target)].ids, others[environmentOf(target)].ids];
      for (const name of knownParametersOf(target)) {
        const { status, text } = await come(target, { ...mine, [name]: theirs[name]! }, mine);
        expect(status, `${nameOf(target)} with another’s ${name}: ${text.match(/<p>[^<]*/)}`).toBe(404);
        probed += 1;
      }
    }
  });
  expect(probed).toBeGreaterThan(20);
});

test('resources of live are a 404 in the sandbox of the same merchant', async () => {
  // People belong to a merchant in both environments.
  const shared = ['accountId', 'invitationId'];
  await expectNothingChanged(async () => {
    for (const target of targetsOf(fixture)) {
      const names = knownParametersOf(target);
      if (names.length === 0 || names.some((name) => shared.includes(name))) continue;
      const { visitor, form, address: here } = permitted(target, own);
      const there = here.replace(/^\/(live|sandbox)/, (path) => (path === '/live' ? '/sandbox' : '/live'));
      const { status } = await (target.method === 'GET' ? ask(visitor, there) : send(visitor, there, form));
      expect(status, nameOf(target)).toBe(404);
    }
  });
});

test('ids have a single spelling, and anything else is a 404', async () => {
  const written = (id: string) => [
    id.toUpperCase(),
    id.replaceAll('-', ''),
    `{${id}}`,
    `${id}%00`,
    `%20${id}`,
    `${id}%0a`,
    `urn:uuid:${id}`,
    '1',
    '-1',
    '__proto__',
    'constructor',
    '..%2f..%2faudit',
    '%252e%252e',
    'x'.repeat(2_000),
    "'%20or%201=1--",
    '%3Cimg%20src=x%3E',
    '%F0%9F%92%A3',
    `${id}%2fdisable`,
    `${id};x`,
  ];
  const probed = new Set<string>();
  await expectNothingChanged(async () => {
    for (const [turn, target] of targetsOf(fixture).entries()) {
      const mine = own[environmentOf(target)].ids;
      for (const name of parametersOf(target)) {
        const ways = written(mine[name]!);
        // One hook reads every id: after the first, each gets some of the ways.
        const asBefore = probed.has(target.method);
        probed.add(target.method);
        for (const id of asBefore ? someOf(ways, turn, 3) : ways) {
          const { status } = await come(target, { ...mine, [name]: id }, mine);
          expect(status, `${nameOf(target)} ${id}`).toBe(404);
        }
      }
    }
  });
});

/** Queries with a value in every position. */
const queriesWith = (name: string) => [
  ...HOSTILE.map((value) => `${new URLSearchParams({ [name]: value })}`),
  `${name}=a&${name}=b`,
  `${name}[x]=1`,
  `${name}=%ED%A0%80`,
  `${name}=%`,
  name,
];

async function expectUnbroken(visitor: Visitor, address: string, queries: readonly string[]): Promise<void> {
  const answers = await Promise.all(queries.map((query) => ask(visitor, `${address}?${query}`)));
  answers.forEach(({ status }, index) => {
    // A search leads straight to what it finds.
    const sound = [200, 400, 404, 422];
    if (address.endsWith('/search')) sound.push(303);
    // A merchant has two exports at once.
    if (address.endsWith('.csv')) sound.push(409);
    expect(sound, `${address}?${queries[index]?.slice(0, 100)}`).toContain(status);
  });
}

test('no query breaks a page or appears in it unescaped', async () => {
  const probed = new Set<unknown>();
  for (const [turn, target] of targetsOf(fixture).entries()) {
    if (target.method === 'POST') continue;
    const { visitor, address } = permitted(target, own);
    for (const [name, property] of Object.entries(target.query?.properties ?? {})) {
      const queries = queriesWith(name);
      const asBefore = `${name} ${JSON.stringify(property)}`;
      await expectUnbroken(visitor, address, probed.has(asBefore) ? someOf(queries, turn, 2) : queries);
      probed.add(asBefore);
    }
    const ofEveryPage = ['a=b&'.repeat(2_000), 'notice=constructor', '__proto__[x]=1', '%00'];
    await expectUnbroken(visitor, address, someOf(ofEveryPage, turn, 1));
  }
});

test('the query parameters that every page reads break none', async () => {
  const { merchantId, people } = own.live;
  for (const name of ['page', 'notice', 'return', 'unknown']) {
    await expectUnbroken(people[3], `/live/${merchantId}/members`, queriesWith(name));
  }
});

test('no named parameter breaks a page or appears in it unescaped', async () => {
  let probed = 0;
  for (const target of targetsOf(fixture)) {
    if (!target.path.includes(':name')) continue;
    const { visitor, address } = permitted(target, own);
    for (const value of HOSTILE.filter((one) => one.trim() !== '')) {
      const path = address.replace('2026-11-21', encodeURIComponent(value));
      const { status } = await ask(visitor, path);
      const isDay = value === '2026-11-21';
      expect(isDay ? [200] : [400, 404, 414], `${nameOf(target)} ${value}`).toContain(status);
      probed += 1;
    }
  }
  expect(probed).toBeGreaterThan(0);
});

test('ids of another merchant in a form have no effect', async () => {
  const merchants = [others.live.merchantId, others.test.merchantId];
  const before = await storedOf(fixture, merchants);
  let probed = 0;
  for (const target of targetsOf(fixture)) {
    const [mine, theirs] = [own[environmentOf(target)].ids, others[environmentOf(target)].ids];
    for (const name of idFieldsOf(target, own[environmentOf(target)])) {
      await come(target, mine, { ...mine, [name]: theirs[name] ?? randomUUID() });
      probed += 1;
    }
    if (target.path.includes(`:${UNKNOWN}`)) {
      const { text } = await come(target, { ...mine, [UNKNOWN]: theirs[UNKNOWN]! }, mine);
      expect(text, nameOf(target)).not.toContain(theirs.disputeId);
    }
  }
  expect(probed).toBeGreaterThan(0);
  expect(await storedOf(fixture, merchants)).toEqual(before);
});
