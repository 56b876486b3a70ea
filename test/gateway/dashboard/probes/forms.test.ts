import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { someOf } from './hostile.ts';
import { nameOf, type ProbeTarget, permitted, targetsOf } from './probe-target.ts';
import { makeWorlds, storedOf } from './probe-world.ts';

/** Requests that are not forms of the own session have no effect, for every action. */

const fixture = await sharedDashboard();
const worlds = await makeWorlds(fixture);

const actions = () => targetsOf(fixture).filter(({ method }) => method === 'POST');
const stored = () => storedOf(fixture, [worlds.live.merchantId, worlds.test.merchantId]);

async function atEveryAction(probe: (target: ProbeTarget, turn: number) => Promise<void>): Promise<void> {
  const before = await stored();
  expect(actions().length).toBeGreaterThan(10);
  for (const [turn, target] of actions().entries()) await probe(target, turn);
  expect(await stored()).toEqual(before);
}

test('a form without its session’s CSRF token has no effect', async () => {
  const other = worlds.live.people[3];
  await atEveryAction(async (target, turn) => {
    const { visitor, form, address, world } = permitted(target, worlds);
    const { _csrf: token, ...without } = form;
    const forged = [
      '',
      'x',
      token.slice(1),
      `${token}x`,
      token.toUpperCase(),
      'undefined',
      '\u0000',
      token.repeat(100),
      visitor.token,
    ];
    const another = (visitor === other ? world.people[2] : other).proof()._csrf;
    expect((await send(visitor, address, without)).status, nameOf(target)).toBe(403);
    for (const _csrf of [another, ...someOf(forged, turn, 1)]) {
      expect((await send(visitor, address, { ...form, _csrf })).status, nameOf(target)).toBe(403);
    }
    const twice = new URLSearchParams([...Object.entries(form), ['_csrf', token]]);
    expect((await ask(visitor, address, { method: 'POST', body: twice })).status).toBe(403);
    const inQuery = `${address}?${new URLSearchParams({ _csrf: token })}`;
    expect((await send(visitor, inQuery, without)).status).toBe(403);
  });
});

test('a form from another site has no effect, even with the right token', async () => {
  await atEveryAction(async (target, turn) => {
    const { visitor, form, address } = permitted(target, worlds);
    for (const site of someOf(['cross-site', 'same-site', 'none', 'x'], turn, 1)) {
      const { status } = await send(visitor, address, form, { 'sec-fetch-site': site });
      expect(status, nameOf(target)).toBe(403);
    }
  });
});

test('a form without its own idempotency key has no effect', async () => {
  await atEveryAction(async (target, turn) => {
    const { visitor, form, address } = permitted(target, worlds);
    const keys = ['', 'x', `${randomUUID()}x`, '\u0000'.repeat(36), randomUUID().repeat(20)];
    for (const _key of someOf(keys, turn, 1)) {
      expect((await send(visitor, address, { ...form, _key })).status, nameOf(target)).toBe(400);
    }
  });
});

test('a body of another content type has no effect', async () => {
  await atEveryAction(async (target, turn) => {
    const { visitor, form, address } = permitted(target, worlds);
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
      target.hasFile ? [text, 'application/x-www-form-urlencoded'] : [multipart, undefined],
    ];
    for (const [body, type] of someOf(bodies, turn, 1)) {
      const init = { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) };
      const { status } = await ask(visitor, address, init);
      expect(status, `${nameOf(target)} ${type}`).toBe(400);
    }
    expect((await ask(visitor, address, { method: 'POST' })).status, nameOf(target)).toBe(403);
  });
});

test('a form that is too large has no effect', async () => {
  await atEveryAction(async (target) => {
    const { visitor, form, address } = permitted(target, worlds);
    const large = { ...form, more: 'x'.repeat(64 * 1024) };
    expect((await send(visitor, address, large)).status, nameOf(target)).toBe(413);
  });
});

test('a GET of an action only leads to its page, and pages reject POST', async () => {
  const before = await stored();
  const methods = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'];
  const pages = new Set(
    targetsOf(fixture)
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path),
  );
  const acted = new Set(actions().map(({ path }) => path));
  for (const [turn, target] of targetsOf(fixture).entries()) {
    const { visitor, form, address } = permitted(target, worlds);
    if (!pages.has(target.path)) {
      for (const method of ['GET', 'HEAD']) {
        const asked = `${address}?${new URLSearchParams(form)}`;
        const { status, location } = await ask(visitor, asked, { method });
        expect(status, nameOf(target)).toBe(303);
        expect(address.startsWith(`${location}/`), nameOf(target)).toBe(true);
        expect((await ask(visitor, location!)).status, nameOf(target)).toBe(200);
      }
    }
    if (!acted.has(target.path))
      expect((await send(visitor, address, form)).status, nameOf(target)).toBe(404);
    for (const method of someOf(methods, turn, 1)) {
      const { status } = await ask(visitor, address, { method });
      expect(status, `${method} ${nameOf(target)}`).toBe(404);
    }
    // A download is recorded.
    if (target.isDownload) continue;
    const overridden = await ask(visitor, address, { headers: { 'x-http-method-override': 'POST' } });
    expect(overridden.status, nameOf(target)).toBe(pages.has(target.path) ? 200 : 303);
  }
  expect(await stored()).toEqual(before);
});

test('a HEAD request for a page has no side effects', async () => {
  for (const target of targetsOf(fixture)) {
    if (target.method === 'POST') continue;
    const { visitor, address } = permitted(target, worlds);
    const head = await ask(visitor, address, { method: 'HEAD' });
    expect({ status: head.status, text: head.text }, nameOf(target)).toEqual({ status: 200, text: '' });
    const accept = { accept: 'text/event-stream' };
    const cookie = { cookie: `__Host-session=${visitor.token}` };
    const stream = await ask(visitor, address, { method: 'HEAD', headers: { ...accept, ...cookie } });
    expect(stream.text, nameOf(target)).toBe('');
  }
});
