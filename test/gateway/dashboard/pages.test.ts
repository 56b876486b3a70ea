import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type DashboardDesk, startDashboardDesk } from './dashboard-desk.ts';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await startDashboardDesk();
});
afterAll(() => desk.close());

test('whoever is not signed in is shown the way in, and nothing else', async () => {
  const path = `/live/${randomUUID()}/webhooks?state=ERROR`;
  const response = await fetch(new URL(path, desk.baseUrl), { redirect: 'manual' });
  expect(response.status).toBe(303);
  expect(response.headers.get('location')).toBe(`/sign-in?return=${encodeURIComponent(path)}`);
});

test('a merchant of others is no page', async () => {
  const [own, other] = [randomUUID(), randomUUID()];
  const visitor = await desk.signIn({ [own]: Role.ADMIN });
  expect((await visitor.get(`/live/${own}`)).status).toBe(200);
  for (const id of [other, own.toUpperCase(), 'x', `${own}x`]) {
    expect((await visitor.get(`/live/${id}`)).status).toBe(404);
  }
});
