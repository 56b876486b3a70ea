import { createHash, randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { create, toJson } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  AddEvidenceRequestSchema,
  type Evidence,
  EvidenceSchema,
  MerchantDecisionKind,
  RefundCaseService,
  RefundInitiator,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  MAX_EVIDENCE_BYTES,
  MAX_EVIDENCE_CHUNK_BYTES,
} from '../../../../services/contracts/refunds/evidence-limits.ts';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { withDeadline } from '../../../../services/refunds/evidence/receive-upload.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { GrpcJsClient } from '../../../support/grpc-js-transport.ts';
import { newKey, newTenant, startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { accountsFixture } from '../../accounts/accounts-fixture.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { aPdf, fileMessages, readFile } from './evidence-files.ts';

const harness = await startHarness({ SERVICES: 'refunds,accounts' });
const grpcJs = new GrpcJsClient(harness.baseUrl, harness.token);
afterAll(async () => {
  grpcJs[Symbol.dispose]();
  await harness.close();
});

/** A merchant's open case, and the calls that concern its files. */
async function aCase(transport: Transport = harness.transports.inProcess) {
  const fixture = refundsOf(harness);
  const client = createClient(RefundCaseService, transport);
  const refundCase = await fixture.open({ evidenceCount: 2 });
  const subject = { refundCaseId: refundCase.id };
  const first = () => ({ ...fixture.write(), ...subject, fileName: 'delivery note.png' });
  const add = async (content: Buffer, named: object = {}, chunkBytes?: number) =>
    (await client.addEvidence(fileMessages({ ...first(), ...named }, content, chunkBytes))).evidence!;
  const files = async () => (await client.listEvidence({ ...fixture.tenant, ...subject })).evidence;
  const count = async () =>
    (await client.getRefundCase({ ...fixture.tenant, ...subject })).refundCase!.evidenceCount;
  return { ...fixture, client, refundCase, subject, first, add, files, count };
}

/** Comparable, whichever class its bytes come in. */
const plain = (evidence: Evidence | undefined) => evidence && toJson(EvidenceSchema, evidence);

describe.each(['inProcess', 'connect', 'grpcJs'] as const)('over %s', (name) => {
  it('keeps a file of exactly 5 MB as it is, and refuses one byte more', async () => {
    const transport = { ...harness.transports, grpcJs: grpcJs.transport }[name];
    const { client, tenant, add, files, count, subject } = await aCase(transport);
    const content = aPdf(MAX_EVIDENCE_BYTES);
    const added = await add(content);
    expect(added).toMatchObject({
      ...tenant,
      ...subject,
      fileName: 'delivery note.pdf',
      contentType: 'application/pdf',
      sizeBytes: MAX_EVIDENCE_BYTES,
    });
    expect(createHash('sha256').update(content).digest().equals(added.sha256)).toBe(true);
    const read = await readFile(client.getEvidence({ ...tenant, evidenceId: added.id }));
    expect(plain(read.evidence)).toEqual(plain(added));
    expect(read.content.equals(content)).toBe(true);
    await expectRefusal(add(aPdf(MAX_EVIDENCE_BYTES + 1)), Code.InvalidArgument, 'EVIDENCE_TOO_LARGE');
    await expectRefusal(add(Buffer.alloc(0)), Code.InvalidArgument, 'EVIDENCE_EMPTY');
    expect((await files()).map(plain)).toEqual([plain(added)]);
    // Two were submitted with the request.
    expect(await count()).toBe(3);
  });
});

it('is idempotent by its whole content, however it is chunked', async () => {
  const { add, files, count } = await aCase();
  const idempotencyKey = newKey();
  const content = aPdf(700);
  const added = await add(content, { idempotencyKey }, 10);
  const contentSha256 = new Uint8Array(createHash('sha256').update(content).digest());
  expect(await add(content, { idempotencyKey, contentSha256 }, 500)).toEqual(added);
  for (const [other, named] of [
    [aPdf(700, 'y'), { idempotencyKey }],
    [content, { idempotencyKey, fileName: 'b' }],
  ] as const)
    await expectRefusal(add(other, named), Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
  const mistaken = add(aPdf(700, 'y'), { contentSha256 });
  await expectRefusal(mistaken, Code.InvalidArgument, 'EVIDENCE_HASH_MISMATCH');
  expect([await files(), await count()]).toEqual([[added], 3]);
});

it('takes the description of the file from the first message only', async () => {
  const { client, first } = await aCase();
  const { refundCaseId: _, ...nothing } = first();
  const chunk = new Uint8Array(aPdf());
  const wrong: readonly (readonly [field: string, messages: readonly object[]])[] = [
    ['merchant_id', []],
    ['merchant_id', [{ chunk }]],
    ['idempotency_key', [{ ...first(), idempotencyKey: '' }, { chunk }]],
    ['file_name', [{ ...first(), fileName: '' }, { chunk }]],
    ['refund_case_id', [nothing, { chunk }]],
    ['dispute_id', [{ ...first(), disputeId: randomUUID() }, { chunk }]],
    ['file_name', [first(), { chunk, fileName: 'other.pdf' }]],
    ['merchant_id', [{ ...first(), merchantId: 'x' }]],
    ['chunk', [first(), { chunk: new Uint8Array(MAX_EVIDENCE_CHUNK_BYTES + 1) }]],
    ['chunk', [first(), { chunk }, {}]],
    ['chunk', [first(), ...Array(2_000).fill({ chunk: new Uint8Array(1) })]],
  ];
  for (const [field, messages] of wrong) {
    const call = client.addEvidence(
      (async function* () {
        yield* messages;
      })(),
    );
    await expectRefusal(call, Code.InvalidArgument, 'INVALID_ARGUMENT', { field });
  }
});

it('keeps only the chunks of its messages in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const { client, first } = await aCase();
  const bytesInUse = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const PADDING_BYTES = 1_000_000;
  const padding = new BinaryWriter().bytes(new Uint8Array(PADDING_BYTES)).finish();
  const content = aPdf(40);
  await client.addEvidence(
    (async function* () {
      yield first();
      const before = bytesInUse();
      for (const byte of content) {
        const message = create(AddEvidenceRequestSchema, { chunk: Uint8Array.of(byte) });
        yield Object.assign(message, {
          $unknown: [{ no: 100, wireType: WireType.LengthDelimited, data: padding }],
        });
      }
      // Collected memory is freed a little later.
      const grownBytes = async () => bytesInUse() - before;
      await expect.poll(grownBytes, { timeout: 8_000 }).toBeLessThan((content.length / 2) * PADDING_BYTES);
    })(),
  );
});

it('takes ten files, even if they arrive at the same time', async () => {
  const { add, files, count } = await aCase();
  for (let n = 0; n < 8; n += 1) await add(aPdf(100 + n));
  const last = await Promise.allSettled([1, 2, 3, 4].map((n) => add(aPdf(200 + n))));
  expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  await expectRefusal(add(aPdf()), Code.ResourceExhausted, 'EVIDENCE_LIMIT_REACHED', { limit: '10' });
  const kept = await files();
  expect(kept.map(({ sizeBytes }) => sizeBytes).slice(0, 8)).toEqual([
    100, 101, 102, 103, 104, 105, 106, 107,
  ]);
  expect([kept.length, await count()]).toEqual([10, 12]);
});

it('takes 200 MB in a sandbox, even if files arrive at the same time', async () => {
  const tenant = newTenant(Environment.TEST);
  const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
  const add = async () => {
    const { id: refundCaseId } = await open();
    return refunds.addEvidence(fileMessages({ ...write(), refundCaseId, fileName: 'a' }, aPdf()));
  };
  // All but the 16 KiB that a small file counts.
  await sqlOf(
    harness,
    `insert into refunds.evidence
       (merchant_id, environment, id, refund_case_id, file_name, content_type, size_bytes, sha256, added_at)
     select $1, 'test', uuidv7(), $2, 'a.pdf', 'application/pdf', 5242880 - case n when 1 then 16384 else 0 end,
            sha256(''), now()
       from generate_series(1, 40) as n`,
    [tenant.merchantId, (await open()).id],
  );
  const added = await Promise.allSettled([add(), add(), add()]);
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const maxBytes = String(200 * 1024 * 1024);
  const refused = () => expectRefusal(add(), Code.ResourceExhausted, 'EVIDENCE_STORAGE_FULL', { maxBytes });
  await refused();
  // One byte too few for a small file, although it is smaller than what is left.
  await sqlOf(
    harness,
    `update refunds.evidence set size_bytes = size_bytes - 16383
      where id = (select id from refunds.evidence where merchant_id = $1 order by size_bytes desc limit 1)`,
    [tenant.merchantId],
  );
  await refused();
});

it('belongs to a case until it is decided, and to a dispute until its response, due date or end', async () => {
  const { client, tenant, write, open, add, subject } = await aCase();
  const contest = { ...subject, decision: MerchantDecisionKind.CONTESTED, reason: 'delivered' };
  await client.decideRefundCase({ ...write(), ...contest });
  const inReview = await add(aPdf());
  await client.cancelRefundCase({ ...write(), ...subject });
  await expectRefusal(add(aPdf()), Code.FailedPrecondition, 'REFUND_CASE_STATE', { state: 'CANCELED' });
  const approved = await open({ initiator: RefundInitiator.MERCHANT });
  const late = add(aPdf(), { refundCaseId: approved.id });
  await expectRefusal(late, Code.FailedPrecondition, 'REFUND_CASE_STATE');

  const dispute = async (dueMs: number) => {
    const disputeId = randomUUID();
    const [now, openedAt] = [Date.now(), Date.now() - 60_000];
    await client.openDispute({
      ...write(),
      disputeId,
      paymentIntentId: randomUUID(),
      occurredAt: timestampFromMs(openedAt),
      dueAt: timestampFromMs(now + dueMs),
    });
    return { disputeId, refundCaseId: undefined };
  };
  const disputed = await dispute(60_000);
  const { disputeId } = disputed;
  const answer = await add(aPdf(), disputed);
  expect([answer.disputeId, answer.refundCaseId]).toEqual([disputeId, undefined]);
  const listed = await client.listEvidence({ ...tenant, disputeId });
  expect(listed.evidence).toEqual([answer]);
  await client.respondToDispute({ ...write(), disputeId, text: 'delivered' });
  await expectRefusal(add(aPdf(), disputed), Code.FailedPrecondition, 'DISPUTE_RESPONDED');
  expect((await client.getDispute({ ...tenant, disputeId })).dispute!.evidenceCount).toBe(1);
  const overdue = add(aPdf(), await dispute(-1));
  await expectRefusal(overdue, Code.FailedPrecondition, 'DISPUTE_RESPONSE_OVERDUE');
  await client.closeDispute({ ...write(), disputeId });
  await expectRefusal(add(aPdf(), disputed), Code.FailedPrecondition, 'DISPUTE_CLOSED');

  const elsewhere = newTenant();
  for (const [call, reason] of [
    [() => add(aPdf(), elsewhere), 'REFUND_CASE_NOT_FOUND'],
    [() => add(aPdf(), { ...elsewhere, ...disputed }), 'DISPUTE_NOT_FOUND'],
    [() => readFile(client.getEvidence({ ...elsewhere, evidenceId: inReview.id })), 'EVIDENCE_NOT_FOUND'],
  ] as const)
    await expectRefusal(call(), Code.NotFound, reason);
  expect((await client.listEvidence({ ...elsewhere, ...subject })).evidence).toEqual([]);
});

it('is added by developers and read by members, with their sessions', async () => {
  const { client, tenant, first, add, files } = await aCase();
  const people = accountsFixture(harness.transports.inProcess);
  await people.join(tenant, Role.ADMIN);
  const developer = await people.join(tenant, Role.DEVELOPER);
  const viewer = await people.join(tenant, Role.VIEWER);
  const stranger = await people.join(newTenant(), Role.ADMIN);
  const addAs = ({ headers }: typeof viewer) =>
    client.addEvidence(fileMessages(first(), aPdf()), { headers });
  const readAs = ({ headers }: typeof viewer, evidenceId: string) =>
    readFile(client.getEvidence({ ...tenant, evidenceId }, { headers }));
  const { evidence } = await addAs(developer);
  expect((await readAs(viewer, evidence!.id)).content.equals(aPdf())).toBe(true);
  for (const refused of [
    () => addAs(viewer),
    () => addAs(stranger),
    () => readAs(stranger, evidence!.id),
    () => readAs(stranger, randomUUID()),
  ])
    await expectRefusal(refused(), Code.PermissionDenied, 'ROLE_MISSING');
  const byService = await add(aPdf(200));
  await readFile(client.getEvidence({ ...tenant, evidenceId: byService.id }));
  expect((await files()).map(({ id }) => id)).toEqual([evidence!.id, byService.id]);
  const audited = await sqlOf<{ action: string; account_id: string | null }>(
    harness,
    `select action, account_id from platform.audit_entry
      where merchant_id = $1 and action like '%Evidence' order by id`,
    [tenant.merchantId],
  );
  expect(audited.map(({ action, account_id }) => [action.split('.').at(-1), account_id])).toEqual([
    ['AddEvidence', developer.accountId],
    ['GetEvidence', viewer.accountId],
    ['AddEvidence', null],
    ['GetEvidence', null],
  ]);
});

it('holds no transaction while a file arrives, and keeps nothing of an aborted upload', async () => {
  const { client, first, add, files, count } = await aCase(grpcJs.transport);
  const stranger = await accountsFixture(harness.transports.inProcess).join(newTenant(), Role.ADMIN);
  const cancel = new AbortController();
  const { signal } = cancel;
  const slow = async function* () {
    yield { ...first(), chunk: new Uint8Array(aPdf()) };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const abandoned = [1, 2, 3, 4].map(() => client.addEvidence(slow(), { signal }));
  const refusalOfAnother = (named = {}) =>
    add(Buffer.alloc(0), named).catch((error: unknown) => errorInfoOf(error)?.reason);
  await expect.poll(refusalOfAnother).toBe('TOO_MANY_UPLOADS');
  expect(await refusalOfAnother({ environment: Environment.TEST })).toBe('EVIDENCE_EMPTY');
  // People of other merchants take none of the merchant's slots.
  const others = client.addEvidence(fileMessages(first(), aPdf()), { headers: stranger.headers });
  await expectRefusal(others, Code.PermissionDenied, 'ROLE_MISSING');
  const transactions = await sqlOf(
    harness,
    `select query from pg_stat_activity where datname = current_database() and xact_start is not null
      and pid <> pg_backend_pid()`,
  );
  expect(transactions).toEqual([]);
  cancel.abort();
  for (const call of abandoned) await expect(call).rejects.toMatchObject({ code: Code.Canceled });
  await expect.poll(refusalOfAnother).toBe('EVIDENCE_EMPTY');
  expect([await files(), await count()]).toEqual([[], 2]);
});

it.each([
  { totalMs: 20, idleMs: 1_000_000 },
  { totalMs: 1_000_000, idleMs: 20 },
])('gives up on a file that does not arrive in time: %j', async (limits) => {
  const { first } = await aCase();
  const stalled = async function* () {
    yield create(AddEvidenceRequestSchema, first());
    await new Promise(() => undefined);
  };
  const messages = withDeadline(stalled(), new AbortController().signal, limits);
  await messages.next();
  await expect(messages.next()).rejects.toMatchObject({ kind: 'ABORTED', reason: 'UPLOAD_TOO_SLOW' });
});
