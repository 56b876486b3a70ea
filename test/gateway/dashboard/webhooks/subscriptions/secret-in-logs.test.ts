import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createDashboard } from '../../../../../gateway/dashboard/dashboard.ts';
import { DASHBOARD_CALLER } from '../../../../../gateway/dashboard/dashboard-caller.ts';
import { newKeyRings } from '../../../../../local/generated-secrets.ts';
import { findFreePort } from '../../../../../local/ports.ts';
import { AccountService, Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { remoteTransport } from '../../../../../services/platform/rpc/remote-transport.ts';
import { newUrl } from '../../../../services/webhooks/webhooks-fixture.ts';
import { createTestDatabase, testConfig } from '../../../../support/harness.ts';
import { startRuntime } from '../../../../support/runtime-process.ts';
import { newServiceToken } from '../../../../support/secrets.ts';
import { signIn } from '../../dashboard-fixture.ts';
import { SECRET } from './subscriptions-fixture.ts';

/**
 * The services as a process that logs everything, with transports of the dashboard and of a caller who invites
 * members.
 */
async function startTalkativeServices() {
  const dashboard = newServiceToken('dashboard', DASHBOARD_CALLER.grants);
  const inviter = newServiceToken('inviter', ['accounts:write', 'sessions']);
  const port = await findFreePort();
  const { child, logged } = startRuntime('services/main.ts', {
    DATABASE_URL: await createTestDatabase(),
    GRPC_PORT: String(port),
    OPS_PORT: '0',
    LOG_LEVEL: 'trace',
    ...newKeyRings(),
    SERVICE_TOKENS: `${dashboard.entry};${inviter.entry}`,
  });
  await expect.poll(logged, { timeout: 40_000 }).toContain('services are listening');
  const as = ({ token }: typeof dashboard) => remoteTransport(`http://127.0.0.1:${port}`, token);
  return { child, logged, transport: as(dashboard), inviting: as(inviter) };
}

test('neither the dashboard nor the services log a secret', async () => {
  const { child, logged, transport, inviting } = await startTalkativeServices();
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const app = await createDashboard({
    config: testConfig({ OIDC_ISSUER: 'https://issuer.invalid' }),
    transport,
    logger,
  });
  onTestFinished(() => app.close());
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const merchantId = randomUUID();
  const visitor = await signIn(createClient(AccountService, inviting), baseUrl, {
    [merchantId]: Role.DEVELOPER,
  });

  const path = `/live/${merchantId}/webhooks`;
  const form = await visitor.get(`${path}/new`);
  const fields = { url: newUrl(), event_types: 'payment.succeeded.v1' };
  const created = await visitor.submit(form, '/webhooks/new', fields);
  const id = /webhooks\/([0-9a-f-]{36})/.exec(created.text)![1]!;
  const rotation = await visitor.get(`${path}/${id}/rotate`);
  const rotated = await visitor.submit(rotation, '/rotate');
  const again = await visitor.submit(form, '/webhooks/new', fields);
  const invalid = await visitor.submit(rotation, '/rotate', { overlap_seconds: 'x' });
  child.kill('SIGKILL');
  const broken = await visitor.submit(rotation, '/rotate');
  expect([again.status, invalid.status, broken.status]).toEqual([200, 400, 503]);

  const log = () => `${lines.join('')}${logged()}`;
  await expect.poll(() => log().match(/"msg":"page"/g)).toHaveLength(7);
  expect(log()).toContain('"msg":"page failed"');
  for (const page of [created, rotated]) {
    const secret = SECRET.exec(page.text)![0];
    expect(log()).not.toContain(secret.slice('whsec_'.length));
  }
  expect(log()).not.toContain(visitor.token);
});
