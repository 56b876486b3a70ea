import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type DashboardFixture, startDashboardFixture } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { addressOf, fieldsOf, nameOf, type Place, peopleFor, placesOf, sideOf } from './probe-place.ts';
import { makeWorld, storedOf, type World } from './probe-world.ts';

/** What is no form of the session's own does nothing, at any action that there is. */

let fixture: DashboardFixture;
let worlds: Readonly<Record<'live' | 'sandbox', World>>;
beforeAll(async () => {
  fixture = await startDashboardFixture();
  worlds = { live: await makeWorld(fixture), sandbox: await makeWorld(fixture, Environment.TEST) };
});
afterAll(() => fixture.close());

const actions = () => placesOf(fixture).filter(({ method }) => method === 'POST');
const stored = () => storedOf(fixture, [worlds.live.merchantId, worlds.sandbox.merchantId]);

/** Somebody who may, where she may, with a form that she filled in. */
function rightly(place: Place) {
  const world = worlds[sideOf(place)];
  const visitor = peopleFor(place, world).enough;
  const form = { ...fieldsOf(place, world), ...visitor.proof() };
  return { world, visitor, form, address: addressOf(place, world.merchantId, world.ids) };
}

async function atEveryAction(probe: (place: Place) => Promise<void>): Promise<void> {
  const before = await stored();
  expect(actions().length).toBeGreaterThan(10);
  for (const place of actions()) await probe(place);
  expect(await stored()).toEqual(before);
}

test('a form without its session’s token does nothing', async () => {
  const other = worlds.live.people[3];
  await atEveryAction(async (place) => {
    const { visitor, form, address, world } = rightly(place);
    const { _csrf: token, ...without } = form;
    const forged = [
      ...[
        '',
        'x',
        token.slice(1),
        `${token}x`,
        token.toUpperCase(),
        'undefined',
        '\u0000',
        token.repeat(100),
      ],
      ...[(visitor === other ? world.people[2] : other).proof()._csrf, visitor.token],
    ];
    expect((await send(visitor, address, without)).status, nameOf(place)).toBe(403);
    for (const _csrf of forged) {
      expect((await send(visitor, address, { ...form, _csrf })).status, nameOf(place)).toBe(403);
    }
    const twice = new URLSearchParams([...Object.entries(form), ['_csrf', token]]);
    expect((await ask(visitor, address, { method: 'POST', body: twice })).status).toBe(403);
    const inQuery = `${address}?${new URLSearchParams({ _csrf: token })}`;
    expect((await send(visitor, inQuery, without)).status).toBe(403);
  });
});

test('a form that another site sends does nothing, though its token were known', async () => {
  await atEveryAction(async (place) => {
    const { visitor, form, address } = rightly(place);
    for (const site of ['cross-site', 'same-site', 'none', 'x']) {
      const { status } = await send(visitor, address, form, { 'sec-fetch-site': site });
      expect(status, nameOf(place)).toBe(403);
    }
  });
});

test('a form without a key of its own does nothing', async () => {
  await atEveryAction(async (place) => {
    const { visitor, form, address } = rightly(place);
    for (const _key of ['', 'x', `${randomUUID()}x`, '\u0000'.repeat(36), randomUUID().repeat(20)]) {
      expect((await send(visitor, address, { ...form, _key })).status, nameOf(place)).toBe(400);
    }
  });
});

test('what is said in another way than a form says it does nothing', async () => {
  await atEveryAction(async (place) => {
    const { visitor, form, address } = rightly(place);
    const text = new URLSearchParams(form).toString();
    const multipart = new FormData();
    for (const [name, value] of Object.entries(form)) multipart.set(name, value);
    const bodies: (readonly [string | FormData, string | undefined])[] = [
      [JSON.stringify(form), 'application/json'],
      [JSON.stringify(form), 'application/json; charset=utf-8'],
      [JSON.stringify(form), 'application/csp-report'],
      [JSON.stringify(form), 'text/plain'],
      [text, 'text/plain;charset=UTF-8'],
      [text, 'application/octet-stream'],
      [text, 'text/html'],
      [text, 'x'],
      [multipart, undefined],
    ];
    for (const [body, type] of bodies) {
      const init = { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) };
      const { status } = await ask(visitor, address, init);
      expect(status, `${nameOf(place)} ${type}`).toBe(400);
    }
    expect((await ask(visitor, address, { method: 'POST' })).status, nameOf(place)).toBe(403);
  });
});

test('a form that is too large does nothing', async () => {
  await atEveryAction(async (place) => {
    const { visitor, form, address } = rightly(place);
    const large = { ...form, more: 'x'.repeat(64 * 1024) };
    expect((await send(visitor, address, large)).status, nameOf(place)).toBe(413);
  });
});

test('an action is nothing to look at, and a page takes no form', async () => {
  const before = await stored();
  const methods = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'];
  const pages = new Set(
    placesOf(fixture)
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path),
  );
  const acted = new Set(actions().map(({ path }) => path));
  for (const place of placesOf(fixture)) {
    const { visitor, form, address } = rightly(place);
    if (!pages.has(place.path)) {
      for (const method of ['GET', 'HEAD']) {
        const asked = `${address}?${new URLSearchParams(form)}`;
        expect((await ask(visitor, asked, { method })).status, nameOf(place)).toBe(404);
      }
    }
    if (!acted.has(place.path)) expect((await send(visitor, address, form)).status, nameOf(place)).toBe(404);
    for (const method of methods) {
      const { status } = await ask(visitor, address, { method });
      expect(status, `${method} ${nameOf(place)}`).toBe(404);
    }
    const overridden = await ask(visitor, address, { headers: { 'x-http-method-override': 'POST' } });
    expect(overridden.status, nameOf(place)).toBe(pages.has(place.path) ? 200 : 404);
  }
  expect(await stored()).toEqual(before);
});

test('a page is asked for its head without being drawn to anybody else', async () => {
  for (const place of placesOf(fixture)) {
    if (place.method === 'POST') continue;
    const { visitor, address } = rightly(place);
    const head = await ask(visitor, address, { method: 'HEAD' });
    expect({ status: head.status, text: head.text }, nameOf(place)).toEqual({ status: 200, text: '' });
    const accept = { accept: 'text/event-stream' };
    const cookie = { cookie: `__Host-session=${visitor.token}` };
    const stream = await ask(visitor, address, { method: 'HEAD', headers: { ...accept, ...cookie } });
    expect(stream.text, nameOf(place)).toBe('');
  }
});
