import { afterAll, beforeAll, expect, test } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { sqlOf } from '../../../support/list-walk.ts';
import { type DashboardFixture, startDashboardFixture } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { HOSTILE } from './hostile.ts';
import { addressOf, fieldsOf, nameOf, type Place, peopleFor, placesOf, sideOf } from './probe-place.ts';
import { makeWorld, type World } from './probe-world.ts';

/** What is typed into forms is done once, and never markup, header or breakdown. */

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await startDashboardFixture();
});
afterAll(() => fixture.close());

type Worlds = Readonly<Record<'live' | 'sandbox', World>>;

const newWorlds = async (): Promise<Worlds> => ({
  live: await makeWorld(fixture),
  sandbox: await makeWorld(fixture, Environment.TEST),
});
const actions = () => placesOf(fixture).filter(({ method }) => method === 'POST');

/** What somebody who may would send, and where. */
function filledIn(place: Place, worlds: Worlds) {
  const world = worlds[sideOf(place)];
  const visitor = peopleFor(place, world).enough;
  const address = addressOf(place, world.merchantId, world.ids);
  return { world, visitor, address, form: { ...fieldsOf(place, world), ...visitor.proof() } };
}

test('a form that is sent three times at once is done once', async () => {
  const worlds = await newWorlds();
  let done = 0;
  for (const place of actions().filter(({ path }) => !UNKEYED.has(path))) {
    const { world, visitor, address, form } = filledIn(place, worlds);
    const recorded = () =>
      sqlOf<{ action: string; request_id: string }>(
        fixture.harness,
        'select action, request_id from platform.audit_entry where merchant_id = $1',
        [world.merchantId],
      );
    const before = (await recorded()).length;
    const answers = await Promise.all([1, 2, 3].map(() => send(visitor, address, form)));
    for (const { status, text } of answers) {
      expect([200, 303, 404, 409, 422], `${nameOf(place)}: ${text.match(/<p>[^<]*/)}`).toContain(status);
    }
    const entries = (await recorded()).slice(before);
    const again = await send(visitor, address, form);
    expect(again.status, nameOf(place)).toBeLessThan(500);
    expect(await recorded(), nameOf(place)).toHaveLength(before + entries.length);
    // An action may take several steps, each of which is done for one of the three alone.
    const steps = entries.map(({ action }) => action);
    expect(new Set(steps).size, nameOf(place)).toBe(steps.length);
    if (entries.length > 0) done += 1;
  }
  expect(done).toBeGreaterThan(15);
}, 60_000);

/** Does what is due: a second time there is nothing left, and no key is needed. */
const UNKEYED: ReadonlySet<string> = new Set(['/simulate/release']);

const UNBROKEN = [200, 303, 400, 404, 409, 422];

test('no value that is typed into a form breaks it or gets into a page', async () => {
  const worlds = await newWorlds();
  const probed = new Set<unknown>();
  for (const place of actions()) {
    // Many actions share a form: the next ones of it meet some of the values.
    const values = probed.has(place.form) ? HOSTILE.filter((_, index) => index % 6 === 0) : HOSTILE;
    probed.add(place.form);
    for (const name of Object.keys(place.form?.properties ?? {})) {
      const sent = values.map(async (value) => {
        const { visitor, address, form } = filledIn(place, worlds);
        const { status } = await send(visitor, address, { ...form, [name]: value });
        expect(UNBROKEN, `${nameOf(place)} ${name}=${value}`).toContain(status);
      });
      const odd = [`${name}=a&${name}=b`, `${name}[x]=1`, `${name}=%ED%A0%80`, `__proto__=1&${name}=%`];
      const oddly = odd.map(async (text) => {
        const { visitor, address, form } = filledIn(place, worlds);
        const { [name]: _, ...rest } = form as Record<string, string>;
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const body = `${text}&${new URLSearchParams(rest)}`;
        const { status } = await ask(visitor, address, { method: 'POST', body, headers });
        expect(UNBROKEN, `${nameOf(place)} ${text}`).toContain(status);
      });
      await Promise.all([...sent, ...oddly]);
    }
  }
  // What was typed and stored is shown on the pages as text.
  for (const place of placesOf(fixture)) {
    if (place.method === 'POST') continue;
    const { visitor, address } = filledIn(place, worlds);
    expect([200, 404], nameOf(place)).toContain((await ask(visitor, address)).status);
  }
}, 120_000);
