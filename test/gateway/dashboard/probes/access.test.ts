import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type DashboardFixture, startDashboardFixture, Visitor } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { addressOf, fieldsOf, nameOf, type Place, peopleFor, placesOf, sideOf } from './probe-place.ts';
import { makeWorld, storedOf, type World } from './probe-world.ts';

/** Who may come to each page and action that there is. A new one is probed by itself. */

let fixture: DashboardFixture;
let worlds: Readonly<Record<'live' | 'sandbox', World>>;
let strangers: World;
beforeAll(async () => {
  fixture = await startDashboardFixture();
  worlds = { live: await makeWorld(fixture), sandbox: await makeWorld(fixture, Environment.TEST) };
  strangers = await makeWorld(fixture);
});
afterAll(() => fixture.close());

const worldOf = (place: Place) => worlds[sideOf(place)];
const stored = () => storedOf(fixture, [worlds.live.merchantId, worlds.sandbox.merchantId]);

/** Comes to a place as a form does, or to look, with everything right but who comes. */
function come(place: Place, visitor: Visitor) {
  const world = worldOf(place);
  const address = addressOf(place, world.merchantId, world.ids);
  if (place.method === 'GET') return ask(visitor, address);
  return send(visitor, address, { ...fieldsOf(place, world), ...visitor.proof() });
}

async function expectNothingChanged(probe: () => Promise<void>): Promise<void> {
  const before = await stored();
  await probe();
  expect(await stored()).toEqual(before);
}

test('there are pages and actions to probe', () => {
  const places = placesOf(fixture);
  expect(places.filter(({ method }) => method === 'GET').length).toBeGreaterThan(10);
  expect(places.filter(({ method }) => method === 'POST').length).toBeGreaterThan(10);
});

test('whoever has no session is led to sign in, and forms of nobody do nothing', async () => {
  const tokens = [
    ...[
      '',
      'x',
      'x'.repeat(43),
      randomBytes(32).toString('base64url'),
      `${'a'.repeat(42)}=`,
      '../'.repeat(20),
    ],
    // Somebody's account and session are no secrets that open anything.
    worlds.live.people[1].accountId,
  ];
  await expectNothingChanged(async () => {
    for (const place of placesOf(fixture)) {
      for (const token of tokens) {
        const { status, location } = await come(place, new Visitor(fixture.baseUrl, token, ''));
        const address = addressOf(place, worldOf(place).merchantId, worldOf(place).ids);
        const back = place.method === 'GET' ? `?return=${encodeURIComponent(address)}` : '';
        expect({ status, location }, nameOf(place)).toEqual({ status: 303, location: `/sign-in${back}` });
      }
    }
  });
});

test('whoever is no member finds nothing, whatever she is elsewhere', async () => {
  // But for the request's own id and address.
  const said = ({ text }: { text: string }) => text.replaceAll(/<code>[^<]*<\/code>|return=[^"]*/g, '');
  const nowhere = said(await ask(strangers.people[3], `/live/${randomUUID()}/members`));
  await expectNothingChanged(async () => {
    for (const place of placesOf(fixture)) {
      const answer = await come(place, strangers.people[3]);
      expect(answer.status, nameOf(place)).toBe(404);
      // As if there were no such merchant.
      expect(said(answer), nameOf(place)).toBe(nowhere);
    }
  });
});

test('whoever has a lesser role is refused', async () => {
  let probed = 0;
  await expectNothingChanged(async () => {
    for (const place of placesOf(fixture)) {
      const { tooLow } = peopleFor(place, worldOf(place));
      if (!tooLow) continue;
      expect((await come(place, tooLow)).status, nameOf(place)).toBe(403);
      probed += 1;
    }
  });
  expect(probed).toBeGreaterThan(10);
});

test('no action takes the least role alone', () => {
  for (const place of placesOf(fixture)) {
    if (place.method === 'POST') expect(place.role, nameOf(place)).toBeGreaterThan(1);
  }
});

test('pages open to just the role that they take', async () => {
  for (const place of placesOf(fixture)) {
    if (place.method === 'POST') continue;
    const answer = await come(place, peopleFor(place, worldOf(place)).enough);
    expect(answer.status, nameOf(place)).toBe(200);
    expect(answer.text, nameOf(place)).toContain('<h1>');
  }
});

test('a page of one environment alone is none of the other', async () => {
  for (const place of placesOf(fixture)) {
    if (place.side === undefined) continue;
    const world = worldOf(place);
    const admin = world.people[3];
    const address = addressOf(place, world.merchantId, world.ids);
    const other = address.replace(/^\/(live|sandbox)/, (side) => (side === '/live' ? '/sandbox' : '/live'));
    const isPage = place.method === 'GET';
    const fields = { ...fieldsOf(place, world), ...admin.proof() };
    expect((await (isPage ? ask(admin, other) : send(admin, other, fields))).status, nameOf(place)).toBe(404);
  }
});

test('merchants and environments have one way of writing', async () => {
  const { merchantId, people } = worlds.live;
  const wrong = [
    ...[`/LIVE/${merchantId}`, `/livex/${merchantId}`, `/xsandbox/${merchantId}`, `/test/${merchantId}`],
    ...[`/live/${merchantId.toUpperCase()}`, `/live/${merchantId}%20`, `/live/%20${merchantId}`],
    ...[`/live/${merchantId.replaceAll('-', '')}`, `/live/{${merchantId}}`, `/live/${merchantId}%00`],
    ...['/live/__proto__', '/live/constructor', '/live/size', '/live//members', `/live/../live/x`],
  ];
  for (const base of wrong) {
    for (const path of ['', '/members', '/api-keys']) {
      expect((await ask(people[3], `${base}${path}`)).status, base + path).toBe(404);
    }
  }
});
