import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Html, html } from '../../../gateway/dashboard/shell/html.ts';
import { LiveStreams, pollIntervalMs } from '../../../gateway/dashboard/shell/live.ts';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { newWrite } from '../../support/harness.ts';
import type { Visitor } from './dashboard-fixture.ts';
import { type EventStream, openStream } from './event-stream.ts';
import { type DeliveriesFixture, startDeliveriesFixture } from './webhooks/deliveries/deliveries-fixture.ts';

describe('the event stream of a page', () => {
  let fixture: DeliveriesFixture;
  beforeAll(async () => {
    fixture = await startDeliveriesFixture();
  });
  afterAll(async () => {
    await Promise.all(open.map((stream) => stream.close()));
    await fixture.close();
  });

  const accounts = () => createClient(AccountService, fixture.transport);
  const open: EventStream[] = [];
  const secondSessionOf = async (visitor: Visitor) => {
    const token = randomBytes(32).toString('base64url');
    await fixture.webhooks.sql(
      `insert into accounts.session
         (account_id, id, token_sha256, created_at, last_seen_at, expires_at, ip_address, user_agent)
       select account_id, gen_random_uuid(), $2, now(), now(), expires_at, ip_address, user_agent
         from accounts.session where account_id = $1`,
      [visitor.accountId, createHash('sha256').update(token).digest()],
    );
    return { token, fetch: visitor.fetch.bind(visitor) };
  };
  const streamOf = async (...[visitor, path]: Parameters<typeof openStream>) => {
    const stream = await openStream(visitor, path);
    open.push(stream);
    return stream;
  };

  it('sends a region at the start, and whenever it changes', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const stream = await streamOf(developer, `${base}/deliveries`);
    const first = await stream.next();
    expect(Object.keys(first!)).toEqual(['deliveries']);
    expect(first!.deliveries).toContain('webhook.ping.v1');
    expect(first!.deliveries).not.toContain('payment.succeeded.v1');
    await fixture.attempted(tenant, { httpStatus: 500 });
    await expect.poll(async () => (await stream.next())?.deliveries).toContain('HTTP 500');
  });

  it('is open only to people who may see the page', async () => {
    const { base, developer } = await fixture.shop();
    const { developer: stranger } = await fixture.shop();
    expect((await streamOf(stranger, `${base}/deliveries`)).status).toBe(404);
    const nobody = { token: 'x'.repeat(43), fetch: developer.fetch.bind(developer) };
    expect((await streamOf(nobody, `${base}/deliveries`)).status).toBe(401);
    expect((await streamOf(developer, `${base}/deliveries?event=x`)).status).toBe(404);
  });

  it('ends with the session, wherever the session is ended', async () => {
    const { base, developer } = await fixture.shop();
    const stream = await streamOf(developer, `${base}/deliveries`);
    await stream.next();
    await accounts().endAllSessions({ accountId: developer.accountId });
    expect(await stream.next()).toBeUndefined();
    expect((await streamOf(developer, `${base}/deliveries`)).status).toBe(401);
  });

  it('sends nothing more to a person who is no longer a member', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.signIn({ [tenant.merchantId]: Role.ADMIN });
    await fixture.subscribed(tenant);
    const stream = await streamOf(developer, `${base}/deliveries`);
    await stream.next();
    await accounts().removeMember({ ...newWrite(tenant), accountId: developer.accountId });
    await fixture.attempted(tenant, { httpStatus: 500 });
    expect(await stream.next()).toBeUndefined();
  });

  it('does not keep its session from expiring when idle', async () => {
    const { base, developer } = await fixture.shop();
    const stream = await streamOf(developer, `${base}/deliveries`);
    await stream.next();
    await fixture.webhooks.sql(
      `update accounts.session set last_seen_at = now() - interval '59 minutes 57 seconds' where account_id = $1`,
      [developer.accountId],
    );
    expect(await stream.next()).toBeUndefined();
    expect((await developer.fetch(`${base}/deliveries`)).headers.get('location')).toMatch(/^\/sign-in\?/);
  });

  it('is limited to twelve per person, across sessions', async () => {
    const { base, developer } = await fixture.shop();
    const { base: otherBase, developer: other } = await fixture.shop();
    const elsewhere = await secondSessionOf(developer);
    const twelve = await Promise.all(
      Array.from({ length: 12 }, (_, n) => streamOf(n % 2 ? developer : elsewhere, `${base}/deliveries`)),
    );
    expect(twelve.map(({ status }) => status)).toEqual(Array(12).fill(200));
    for (const visitor of [developer, elsewhere]) {
      expect((await streamOf(visitor, `${base}/resends`)).status).toBe(429);
    }
    expect((await streamOf(other, `${otherBase}/resends`)).status).toBe(200);
    await twelve[0]!.close();
    await expect.poll(async () => (await streamOf(developer, `${base}/resends`)).status).toBe(200);
  });
});

it('is ended cleanly when the dashboard closes', async () => {
  const fixture = await startDeliveriesFixture();
  const { base, developer } = await fixture.shop();
  const stream = await openStream(developer, `${base}/deliveries`);
  await stream.next();
  await Promise.all([fixture.app.close(), expect(stream.next()).resolves.toBeUndefined()]);
  await fixture.close();
});

describe('event streams', () => {
  /** An application that streams what `look` returns; `first` is the initial region. */
  async function startStreaming(first: Html, look: () => Promise<Html>) {
    const streams = new LiveStreams();
    const app = fastify();
    app.addHook('preClose', async () => streams.close());
    app.get('/', async (_request, reply) => {
      await streams.send('session', reply, { region: first }, async () => ({ region: await look() }));
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return { app, url };
  }

  it('end at once when their gateway closes, whatever they are waiting for', async () => {
    let looks = 0;
    const { app, url } = await startStreaming(html`as it was`, () => {
      looks += 1;
      return new Promise<never>(() => {});
    });
    const response = await fetch(url);
    const whole = response.text();
    await expect.poll(() => looks, { timeout: 40_000 }).toBe(1);
    await app.close();
    expect(await whole).toContain('as it was');
  });

  it('are not opened any more while their gateway closes', async () => {
    const streams = new LiveStreams();
    streams.close();
    expect(await streams.send('session', {} as never, {}, async () => ({}))).toBe(false);
  });

  it('do not poll again before the reader has received the last update', async () => {
    const large = 'x'.repeat(32 * 1024 * 1024);
    let looks = 0;
    const { app, url } = await startStreaming(html`${large}`, async () => {
      looks += 1;
      return html`${large}${looks}`;
    });
    const reader = connect(Number(new URL(url).port), '127.0.0.1');
    reader.pause();
    reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await delay(2_500);
    expect(looks).toBe(0);
    reader.resume();
    await expect.poll(() => looks, { timeout: 40_000 }).toBeGreaterThan(0);
    const closed = once(reader, 'close');
    await app.close();
    await closed;
  });

  it('are closed if the reader left while the page was rendered', async () => {
    const streams = new LiveStreams();
    const app = fastify();
    app.addHook('preClose', async () => streams.close());
    const begun: boolean[] = [];
    app.get('/', async (request, reply) => {
      if ('left' in (request.query as object)) await once(reply.raw, 'close');
      begun.push(await streams.send('session', reply, {}, async () => ({})));
      if (!begun.at(-1)) throw new Error('too many');
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    for (let n = 1; n <= 7; n += 1) {
      const reader = connect(Number(new URL(url).port), '127.0.0.1');
      reader.write('GET /?left HTTP/1.1\r\nhost: x\r\n\r\n');
      await delay(20);
      reader.destroy();
      await expect.poll(() => begun).toHaveLength(n);
    }
    const stays = await fetch(url);
    expect(stays.status).toBe(200);
    await stays.body!.cancel();
    await app.close();
  });

  it('do not treat a new form key as a change', async () => {
    let state = 'open';
    let looks = 0;
    const draw = () => html`<p>${state}</p><input type="hidden" name="_key" value="${randomUUID()}">`;
    const { app, url } = await startStreaming(draw(), async () => {
      looks += 1;
      if (looks === 3) state = 'closed';
      return draw();
    });
    const whole = (await fetch(url)).text();
    await expect.poll(() => looks, { timeout: 40_000 }).toBeGreaterThan(3);
    await app.close();
    const sent = (await whole).match(/data: .*/g);
    expect(sent).toHaveLength(2);
    expect(sent![1]).toContain('closed');
  });

  it('poll every second, less often without changes, and at most a hundred times a second', () => {
    expect(pollIntervalMs(0, 1, false)).toBe(1_000);
    expect(pollIntervalMs(10 * 60_000, 1, false)).toBe(3_000);
    expect(pollIntervalMs(0, 1, true)).toBe(3_000);
    expect(pollIntervalMs(0, 100, false)).toBe(1_000);
    for (const open of [200, 1_000, 5_000]) expect(open / (pollIntervalMs(0, open, false) / 1_000)).toBe(100);
  });
});
