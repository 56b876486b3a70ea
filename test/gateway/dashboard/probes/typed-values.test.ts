import { expect, test } from 'vitest';
import { sqlOf } from '../../../support/sql.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { ask, send } from './ask.ts';
import { HOSTILE, someOf } from './hostile.ts';
import { nameOf, permitted, targetsOf } from './probe-target.ts';
import { makeWorlds } from './probe-world.ts';

/** Values typed into forms take effect once, and never become markup, headers or crashes. */

const fixture = await sharedDashboard();

const actions = () => targetsOf(fixture).filter(({ method }) => method === 'POST');

test('a form that is sent three times concurrently has one effect', async () => {
  const worlds = await makeWorlds(fixture);
  let done = 0;
  for (const target of actions().filter(({ path }) => !UNKEYED.has(path))) {
    const { world, visitor, address, form } = permitted(target, worlds);
    const recorded = () =>
      sqlOf<{ action: string; request_id: string }>(
        fixture.harness,
        // Changes to the team leave one entry in each environment.
        `select action, request_id from platform.audit_entry where merchant_id = $1 and account_id is not null
          group by action, request_id order by min(id::text)`,
        [world.merchantId],
      );
    const before = (await recorded()).length;
    const answers = await Promise.all([1, 2, 3].map(() => send(visitor, address, form)));
    for (const { status, text } of answers) {
      expect([200, 303, 404, 409, 422], `${nameOf(target)}: ${text.match(/<p>[^<]*/)}`).toContain(status);
    }
    const entries = (await recorded()).slice(before);
    const again = await send(visitor, address, form);
    expect(again.status, nameOf(target)).toBeLessThan(500);
    expect(await recorded(), nameOf(target)).toHaveLength(before + entries.length);
    // An action may take several steps, each of which takes effect for one of the three requests.
    const steps = entries.map(({ action }) => action);
    expect(new Set(steps).size, nameOf(target)).toBe(steps.length);
    if (entries.length > 0) done += 1;
  }
  expect(done).toBeGreaterThan(15);
});

/** Handles what is due, so a repetition has nothing left to do and needs no key. */
const UNKEYED: ReadonlySet<string> = new Set(['/simulate/release']);

const UNBROKEN = [200, 303, 400, 404, 409, 422];

test('no value entered in a form breaks it or appears in a page unescaped', async () => {
  const worlds = await makeWorlds(fixture);
  const probed = new Set<unknown>();
  let turn = 0;
  for (const target of actions()) {
    // Many actions share a form, so each later one gets a single value in each field.
    const isKnown = probed.has(target.form);
    probed.add(target.form);
    for (const name of Object.keys(target.form?.properties ?? {})) {
      turn += 1;
      const values = someOf(HOSTILE, turn, isKnown ? 1 : 11);
      const sent = values.map(async (value) => {
        const { visitor, address, form } = permitted(target, worlds);
        const { status } = await send(visitor, address, { ...form, [name]: value });
        expect(UNBROKEN, `${nameOf(target)} ${name}=${value}`).toContain(status);
      });
      const all = [`${name}=a&${name}=b`, `${name}[x]=1`, `${name}=%ED%A0%80`, `__proto__=1&${name}=%`];
      const odd = someOf(all, turn, isKnown ? 0 : 1);
      const oddly = odd.map(async (text) => {
        const { visitor, address, form } = permitted(target, worlds);
        const { [name]: _, ...rest } = form as Record<string, string>;
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const body = `${text}&${new URLSearchParams(rest)}`;
        const { status } = await ask(visitor, address, { method: 'POST', body, headers });
        expect(UNBROKEN, `${nameOf(target)} ${text}`).toContain(status);
      });
      await Promise.all([...sent, ...oddly]);
    }
  }
  // What was typed and stored is shown on the pages as text.
  for (const target of targetsOf(fixture)) {
    if (target.method === 'POST') continue;
    const { visitor, address } = permitted(target, worlds);
    expect([200, 404], nameOf(target)).toContain((await ask(visitor, address)).status);
  }
});
