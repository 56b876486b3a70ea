import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, expect, test, vi } from 'vitest';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { ServiceTokenService } from '../../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { bearer } from '../../../../services/platform/rpc/remote-transport.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { aPdf } from '../../refunds/evidence/evidence-files.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';
import { webhooksFixture } from '../../webhooks/webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks,refunds' });
/** Another process on the same database. */
const other = await startHarness({ SERVICES: 'webhooks' }, undefined, harness.databaseUrl);
afterAll(() => Promise.all([harness.close(), other.close()]));

const tokens = () => createClient(ServiceTokenService, harness.transports.inProcess);
const sha256 = (token: string) => createHash('sha256').update(token).digest();
const newToken = () => `mps_${randomBytes(32).toString('base64url')}`;

async function issue(token: string, grants: string[], expiresAtMs?: number) {
  const request = { name: 'billing', grants, tokenSha256: sha256(token) };
  const expiresAt = expiresAtMs === undefined ? undefined : timestampFromMs(expiresAtMs);
  const { serviceToken } = await tokens().issueServiceToken({ ...request, ...(expiresAt && { expiresAt }) });
  return serviceToken!;
}

const eventsAs = (token: string, { baseUrl } = harness) =>
  createClient(EventService, createGrpcTransport({ baseUrl, interceptors: [bearer(token)] }));
const listEvents = (token: string, of = harness) => eventsAs(token, of).listEvents(newTenant());
const isRefused = (call: Promise<unknown>) =>
  expectRefusal(call, Code.Unauthenticated, 'SERVICE_TOKEN_INVALID');

const WITHIN_5S = { timeout: 5_000, interval: 100 };

test('a token has its grants in every process, and is stored as a hash', async () => {
  const token = newToken();
  const before = listEvents(token, other);
  await isRefused(before);
  const issued = await issue(token, ['webhooks:read', 'publish:refund:test']);
  expect(issued).toMatchObject({ name: 'billing', createdBy: 'test', revokedBy: '' });
  for (const of of [harness, other]) {
    await vi.waitFor(() => listEvents(token, of), WITHIN_5S);
    const disallowed = eventsAs(token, of).listEventFeed({});
    await expectRefusal(disallowed, Code.PermissionDenied, 'GRANT_MISSING', { grant: 'operations' });
  }
  const [{ stored }] = (await sqlOf<{ stored: string }>(
    harness,
    'select t::text as stored from platform.service_token t where id = $1',
    [issued.id],
  )) as [{ stored: string }];
  expect(stored).toContain(sha256(token).toString('hex'));
  expect(stored).not.toContain(token.slice(4));
});

test('issuing and rotating can be repeated; a hash belongs to one token', async () => {
  const token = newToken();
  const issued = await issue(token, ['webhooks:read']);
  expect(await issue(token, ['webhooks:read'])).toEqual(issued);
  await expectRefusal(issue(token, ['webhooks:write']), Code.AlreadyExists, 'SERVICE_TOKEN_USED');
  const both = await Promise.all([1, 2].map(() => issue(token, ['webhooks:read'])));
  expect(both).toEqual([issued, issued]);

  const rotation = { serviceTokenId: issued.id, tokenSha256: sha256(newToken()), overlapSeconds: 60 };
  const first = await tokens().rotateServiceToken(rotation);
  expect(await tokens().rotateServiceToken({ ...rotation, overlapSeconds: 0 })).toEqual(first);
  const used = tokens().rotateServiceToken({ ...rotation, tokenSha256: sha256(token) });
  await expectRefusal(used, Code.AlreadyExists, 'SERVICE_TOKEN_USED');
});

test('refuses unknown grants, an expiry in the past, and tokens that do not exist or have ended', async () => {
  await expectRefusal(issue(newToken(), ['webhooks:all']), Code.InvalidArgument, 'UNKNOWN_GRANT', {
    grant: 'webhooks:all',
  });
  const past = issue(newToken(), ['keys'], Date.now() - 1);
  await expectRefusal(past, Code.InvalidArgument, 'EXPIRES_AT_IN_PAST');
  const serviceTokenId = crypto.randomUUID();
  const rotation = { serviceTokenId, tokenSha256: sha256(newToken()), overlapSeconds: 0 };
  for (const call of [
    () => tokens().revokeServiceToken({ serviceTokenId }),
    () => tokens().rotateServiceToken(rotation),
  ]) {
    await expectRefusal(call(), Code.NotFound, 'SERVICE_TOKEN_NOT_FOUND');
  }
  const { id } = await issue(newToken(), ['keys']);
  const revoked = await tokens().revokeServiceToken({ serviceTokenId: id });
  expect(revoked.serviceToken).toMatchObject({ revokedBy: 'test' });
  expect(await tokens().revokeServiceToken({ serviceTokenId: id })).toEqual(revoked);
  const late = tokens().rotateServiceToken({ ...rotation, serviceTokenId: id });
  await expectRefusal(late, Code.FailedPrecondition, 'SERVICE_TOKEN_STATE', { state: 'REVOKED' });
});

test('a rotated token works for the overlap, and an expired one not at all', async () => {
  const [token, successor] = [newToken(), newToken()];
  const issued = await issue(token, ['webhooks:read']);
  const { serviceToken, rotated } = await tokens().rotateServiceToken({
    serviceTokenId: issued.id,
    tokenSha256: sha256(successor),
    overlapSeconds: 3_600,
  });
  expect(serviceToken).toMatchObject({ name: 'billing', grants: ['webhooks:read'] });
  const overlapMs = timestampMs(rotated!.expiresAt!) - timestampMs(serviceToken!.createdAt!);
  expect(overlapMs).toBe(3_600_000);
  await vi.waitFor(() => Promise.all([listEvents(token), listEvents(successor)]), WITHIN_5S);

  // The clock of the process that issued the token is ahead.
  const createdAt = new Date(Date.now() + 60_000);
  await sqlOf(harness, 'update platform.service_token set created_at = $2 where id = $1', [
    serviceToken!.id,
    createdAt,
  ]);
  const end = { serviceTokenId: serviceToken!.id, tokenSha256: sha256(newToken()), overlapSeconds: 0 };
  expect(timestampMs((await tokens().rotateServiceToken(end)).rotated!.expiresAt!)).toBe(createdAt.getTime());

  const brief = newToken();
  await issue(brief, ['webhooks:read'], Date.now() + 1_500);
  await vi.waitFor(() => listEvents(brief), WITHIN_5S);
  await vi.waitFor(() => isRefused(listEvents(brief)), WITHIN_5S);
});

test('a revoked token is refused everywhere within five seconds, also on an open stream', async () => {
  const token = newToken();
  const { id } = await issue(token, ['webhooks:read', 'operations', 'refunds:write']);
  for (const of of [harness, other]) await vi.waitFor(() => listEvents(token, of), WITHIN_5S);
  const tenant = newTenant();
  const stream = eventsAs(token).getEventFeed(tenant)[Symbol.asyncIterator]();
  await stream.next();
  const uploads = await uploadsAs(token);
  await tokens().revokeServiceToken({ serviceTokenId: id });
  await Promise.all(
    [harness, other].map((of) => vi.waitFor(() => isRefused(listEvents(token, of)), WITHIN_5S)),
  );
  await uploads.expectOneRefusedOneDone();
  await webhooksFixture(harness, harness.transports.inProcess).publish(tenant);
  await isRefused(stream.next());
});

/** Two uploads with a token: one whose last message is still missing, and one whose transaction waits for its case. */
async function uploadsAs(token: string) {
  const { open, write, tenant, refunds } = refundsOf(harness);
  const [incomplete, waiting] = [await open(), await open()];
  const client = createClient(
    RefundCaseService,
    createGrpcTransport({ baseUrl: harness.baseUrl, interceptors: [bearer(token)] }),
  );
  const lock = await openSession(harness.databaseUrl);
  await lock.query('begin');
  await lock.query('select from refunds.refund_case where id = $1 for update', [waiting.id]);
  let isRevoked = false;
  const addTo = ({ id: refundCaseId }: { id: string }, isComplete: () => boolean) => {
    const messages = async function* () {
      const content = aPdf(1_000);
      let sent = 0;
      yield { ...write(), refundCaseId, fileName: 'a.pdf' };
      for (; !isComplete(); sent += 1) {
        yield { chunk: new Uint8Array(content.subarray(sent, sent + 1)) };
        await delay(100);
      }
      yield { chunk: new Uint8Array(content.subarray(sent)) };
    };
    return client.addEvidence(messages());
  };
  const refused = isRefused(addTo(incomplete, () => isRevoked));
  const done = addTo(waiting, () => true);
  await expect.poll(() => sqlOf(harness, WAITING_FOR_LOCKS)).not.toEqual([]);
  return {
    async expectOneRefusedOneDone() {
      isRevoked = true;
      await refused;
      await lock.query('rollback');
      await lock.end();
      const { evidence } = await done;
      const files = async ({ id: refundCaseId }: { id: string }) =>
        (await refunds.listEvidence({ ...tenant, refundCaseId })).evidence;
      expect([await files(incomplete), await files(waiting)]).toEqual([[], [evidence]]);
    },
  };
}

const WAITING_FOR_LOCKS = `
select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test('no token of the database is accepted while it cannot be read; those in the settings are', async () => {
  const token = newToken();
  await issue(token, ['webhooks:read']);
  await vi.waitFor(() => listEvents(token), WITHIN_5S);
  await using database = await openSession(harness.databaseUrl);
  await database.query('begin; lock table platform.service_token in access exclusive mode');
  const unavailable = () => expectRefusal(listEvents(token), Code.Unavailable, 'DATABASE_UNAVAILABLE');
  await vi.waitFor(unavailable, { timeout: 10_000 });
  await listEvents(harness.token);
  await database.query('rollback');
  await vi.waitFor(() => listEvents(token), WITHIN_5S);
});
