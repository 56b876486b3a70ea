import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { sqlOf } from '../../../support/sql.ts';
import { sharedDashboard, Visitor } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { someOf } from './hostile.ts';
import {
  addressOf,
  environmentOf,
  fieldsOf,
  nameOf,
  type ProbeTarget,
  peopleFor,
  targetsOf,
} from './probe-target.ts';
import { makeWorld, makeWorlds, storedOf } from './probe-world.ts';

/** Who may access each page and action. New ones are tested automatically. */

const fixture = await sharedDashboard();
const worlds = await makeWorlds(fixture);
const strangers = await makeWorld(fixture);

const worldOf = (target: ProbeTarget) => worlds[environmentOf(target)];
const stored = () => storedOf(fixture, [worlds.live.merchantId, worlds.test.merchantId]);

/** Requests a target like a form or a reader, with everything right except the person. */
function come(target: ProbeTarget, visitor: Visitor, world = worldOf(target)) {
  const address = addressOf(target, world.merchantId, world.ids);
  if (target.method === 'GET') return ask(visitor, address);
  return send(visitor, address, { ...fieldsOf(target, world), ...visitor.proof() });
}

async function expectNothingChanged(probe: () => Promise<void>): Promise<void> {
  const before = await stored();
  await probe();
  expect(await stored()).toEqual(before);
}

/** Where a form without a session leads: to sign-in, and from there back to its page. */
const FORM_PAGE = /^\/sign-in\?return=.+&unsent=1$/;

test('there are pages and actions to test', () => {
  const targets = targetsOf(fixture);
  expect(targets.filter(({ method }) => method === 'GET').length).toBeGreaterThan(10);
  expect(targets.filter(({ method }) => method === 'POST').length).toBeGreaterThan(10);
});

test('without a session, pages redirect to sign-in and forms have no effect', async () => {
  const tokens = [
    'x',
    'x'.repeat(43),
    randomBytes(32).toString('base64url'),
    `${'a'.repeat(42)}=`,
    '../'.repeat(20),
    // The ids of an account and session are not secrets.
    worlds.live.people[1].accountId,
  ];
  await expectNothingChanged(async () => {
    for (const [turn, target] of targetsOf(fixture).entries()) {
      for (const token of ['', ...someOf(tokens, turn, 1)]) {
        const { status, location } = await come(target, new Visitor(fixture.baseUrl, token, ''));
        const address = addressOf(target, worldOf(target).merchantId, worldOf(target).ids);
        const page = `/sign-in?return=${encodeURIComponent(address)}`;
        const back = target.method === 'GET' ? page : expect.stringMatching(FORM_PAGE);
        // A token is taken for that of a session that has ended.
        const asked = location?.replace(/&ended=1$/, '');
        expect({ status, asked }, nameOf(target)).toEqual({ status: 303, asked: back });
      }
    }
  });
});

test('people who are not members get a 404, whatever their role elsewhere', async () => {
  // Without the request's own id and address.
  const said = ({ text }: { text: string }) => text.replaceAll(/<code>[^<]*<\/code>|return=[^"]*/g, '');
  const nowhere = said(await ask(strangers.people[3], `/live/${randomUUID()}/members`));
  await expectNothingChanged(async () => {
    for (const target of targetsOf(fixture)) {
      const answer = await come(target, strangers.people[3]);
      expect(answer.status, nameOf(target)).toBe(404);
      // As if there were no such merchant.
      expect(said(answer), nameOf(target)).toBe(nowhere);
    }
  });
});

test('people with any lower role get a 403', async () => {
  let probed = 0;
  await expectNothingChanged(async () => {
    for (const target of targetsOf(fixture)) {
      for (const visitor of peopleFor(target, worldOf(target)).tooLow) {
        expect((await come(target, visitor)).status, nameOf(target)).toBe(403);
        probed += 1;
      }
    }
  });
  expect(probed).toBeGreaterThan(10);
});

/** Steps that write nothing in the state of the probed case. */
const WITHOUT_WRITE = ['/simulate/refund-cases/:refundCaseId/complete'];

test('the services refuse forms of people who lost their role or session after the dashboard had checked them', async () => {
  const actions = targetsOf(fixture).filter(
    ({ method, path }) => method === 'POST' && !WITHOUT_WRITE.includes(path),
  );
  const merchants = [worlds.live.merchantId, worlds.test.merchantId];
  const people = [worlds.live, worlds.test].flatMap((world) =>
    Object.values(world.people).map(({ accountId }) => accountId),
  );
  const sql = (text: string, values: unknown[] = []) => sqlOf(fixture.harness, text, values);
  try {
    await sql(`update platform.membership set role = 'VIEWER' where merchant_id = any($1::uuid[])`, [
      merchants,
    ]);
    await expectNothingChanged(async () => {
      for (const target of actions) {
        const { enough } = peopleFor(target, worldOf(target));
        expect((await come(target, enough)).status, nameOf(target)).toBe(403);
      }
    });
    await sql('delete from platform.session where account_id = any($1::uuid[])', [people]);
    await expectNothingChanged(async () => {
      for (const target of actions) {
        const { status, location } = await come(target, peopleFor(target, worldOf(target)).enough);
        expect({ status, location }, nameOf(target)).toEqual({
          status: 303,
          location: expect.stringMatching(FORM_PAGE),
        });
      }
    });
  } finally {
    await sql(
      `update platform.membership as mirror set role = member.role from accounts.member as member
        where mirror.merchant_id = member.merchant_id and mirror.account_id = member.account_id`,
    );
    await sql(
      `insert into platform.session
       select token_sha256, account_id, last_seen_at, expires_at from accounts.session
        where account_id = any($1::uuid[]) and ended_at is null
       on conflict do nothing`,
      [people],
    );
  }
});

test('every action requires more than the lowest role', () => {
  for (const target of targetsOf(fixture)) {
    if (target.method === 'POST') expect(target.role, nameOf(target)).toBeGreaterThan(1);
  }
});

test('pages open to the lowest role that suffices, and to the highest', async () => {
  for (const target of targetsOf(fixture)) {
    if (target.method === 'POST') continue;
    const world = worldOf(target);
    for (const visitor of new Set([peopleFor(target, world).enough, world.people[Role.ADMIN]])) {
      const answer = await come(target, visitor);
      expect(answer.status, nameOf(target)).toBe(200);
      expect(answer.text, nameOf(target)).toMatch(target.isDownload ? /^(%PDF-|line;)/ : /<h1>/);
    }
  }
});

test('forms do their work for the lowest role that suffices', async () => {
  const own = await makeWorlds(fixture);
  // Deletions come last, because the others need the records.
  const targets = targetsOf(fixture).toSorted(
    (a, b) => Number(a.path.endsWith('/delete')) - Number(b.path.endsWith('/delete')),
  );
  for (const target of targets) {
    if (target.method === 'GET') continue;
    const world = own[environmentOf(target)];
    const { status } = await come(target, peopleFor(target, world).enough, world);
    expect([403, 404], nameOf(target)).not.toContain(status);
  }
});

test('a page that only one environment has is a 404 in the other, and changes nothing', async () => {
  await expectNothingChanged(async () => {
    for (const target of targetsOf(fixture)) {
      if (target.environment === undefined) continue;
      const world = worldOf(target);
      const admin = world.people[3];
      const address = addressOf(target, world.merchantId, world.ids);
      const other = address.replace(/^\/(live|sandbox)/, (path) => (path === '/live' ? '/sandbox' : '/live'));
      const isPage = target.method === 'GET';
      const fields = { ...fieldsOf(target, world), ...admin.proof() };
      expect((await (isPage ? ask(admin, other) : send(admin, other, fields))).status, nameOf(target)).toBe(
        404,
      );
    }
  });
});

test('merchants and environments have a single spelling in paths', async () => {
  const { merchantId, people } = worlds.live;
  const wrong = [
    `/LIVE/${merchantId}`,
    `/livex/${merchantId}`,
    `/xsandbox/${merchantId}`,
    `/test/${merchantId}`,
    `/live/${merchantId.toUpperCase()}`,
    `/live/${merchantId}%20`,
    `/live/%20${merchantId}`,
    `/live/${merchantId.replaceAll('-', '')}`,
    `/live/{${merchantId}}`,
    `/live/${merchantId}%00`,
    '/live/__proto__',
    '/live/constructor',
    '/live/size',
    '/live//members',
    `/live/../live/x`,
  ];
  for (const base of wrong) {
    for (const path of ['', '/members', '/api-keys']) {
      expect((await ask(people[3], `${base}${path}`)).status, base + path).toBe(404);
    }
  }
});
