import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { createDashboard } from '../../../gateway/dashboard/dashboard.ts';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { remoteTransport } from '../../../services/platform/rpc/remote-transport.ts';
import { startDashboardFixture } from './dashboard-fixture.ts';

const fixture = await startDashboardFixture();
const unknown = await createDashboard({
  config: fixture.harness.config,
  transport: remoteTransport(fixture.harness.baseUrl, 'unknown-token'),
  logger: createLogger('silent'),
});
afterAll(async () => {
  await unknown.close();
  await fixture.close();
});

test.for(['/account', '/live'])(
  'people stay signed in when services refuse the dashboard: %s',
  async (path) => {
    const merchant = randomUUID();
    const { token } = await fixture.signIn({ [merchant]: Role.ADMIN });
    const url = path === '/live' ? `/live/${merchant}` : path;
    const answer = await unknown.inject({ url, cookies: { '__Host-session': token } });
    expect(answer.statusCode).toBe(500);
    expect(answer.cookies).toEqual([]);
    expect(answer.body).not.toMatch(/token/i);
  },
);
