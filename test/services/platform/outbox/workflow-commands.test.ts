import { createClient } from '@connectrpc/connect';
import { afterAll, beforeEach, expect, it } from 'vitest';
import {
  WorkflowCommandKind as Kind,
  WorkflowCommandService,
} from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { emptyDatabase, startHarness } from '../../../support/harness.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { refundsOf } from '../../refunds/refund-case-fixture.ts';

const harness = await startHarness();
beforeEach(() => emptyDatabase(harness.databaseUrl));
afterAll(() => harness.close());

const commands = () => createClient(WorkflowCommandService, harness.transports.inProcess);
const claim = async () => (await commands().claimCommands({ waitMs: 0, maxCommands: 100 })).commands;

/** Makes all commands older. */
const wait = (interval: string) =>
  sqlOf(harness, 'update platform.outbox_command set due_at = due_at - $1::interval', [interval]);

/** A case in the merchant's review, whose workflow is to be started. */
async function review() {
  const { refunds, write, open } = refundsOf(harness);
  const { id: refundCaseId } = await open();
  const cancel = () => refunds.cancelRefundCase({ ...write(), refundCaseId });
  return { workflowId: `merchant-review-${refundCaseId}`, cancel };
}

it('commands are claimed once, and again when they are not confirmed', async () => {
  const { workflowId } = await review();
  const claimed = await claim();
  expect(claimed).toMatchObject([{ kind: Kind.START, workflowId, workflowType: 'awaitMerchantReview' }]);
  expect(await claim()).toEqual([]);
  await wait('31 s');
  expect(await claim()).toEqual(claimed);
});

it('commands are claimed as soon as they are due, although their times may be rounded up', async () => {
  await review();
  for (let times = 0; times < 100; times += 1) {
    await sqlOf(harness, 'update platform.outbox_command set due_at = clock_timestamp()');
    expect(await claim()).toHaveLength(1);
  }
});

it('START commands are sent again after a minute, then after longer and longer, up to an hour, until the workflow ends them', async () => {
  await review();
  const commandIds = (await claim()).map(({ id }) => id);
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await commands().confirmCommands({ commandIds });
    await wait(`${minutes} minutes -5 s`);
    expect(await claim()).toEqual([]);
    await wait('6 s');
    expect((await claim()).map(({ id }) => id)).toEqual(commandIds);
  }
  await commands().confirmCommands({ commandIds });
  await commands().endStarts({ commandIds });
  await wait('2 hours');
  expect(await claim()).toEqual([]);
});

it('commands are confirmed without waiting for a START that another transaction removes, which is sent again if that fails', async () => {
  await review();
  await review();
  const commandIds = (await claim()).map(({ id }) => id);
  await using other = await openSession(harness.databaseUrl);
  await other.query('begin');
  await other.query('delete from platform.outbox_command where id = $1', [commandIds[0]]);
  await commands().confirmCommands({ commandIds }, { timeoutMs: 4_000 });
  await other.query('rollback');
  await wait('31 s');
  expect((await claim()).map(({ id }) => id)).toEqual([commandIds[0]]);
});

it('START commands are all sent again within half a minute when Temporal has lost its state', async () => {
  await review();
  const commandIds = (await claim()).map(({ id }) => id);
  await commands().confirmCommands({ commandIds });
  await commands().resendStarts({});
  await wait('30 s');
  expect((await claim()).map(({ id }) => id)).toEqual(commandIds);
});

it('CANCEL commands remove the START of their workflow, and are deleted once confirmed', async () => {
  const { workflowId, cancel } = await review();
  await commands().confirmCommands({ commandIds: (await claim()).map(({ id }) => id) });
  await cancel();
  const canceled = await claim();
  expect(canceled).toMatchObject([{ kind: Kind.CANCEL, workflowId }]);
  await commands().confirmCommands({ commandIds: canceled.map(({ id }) => id) });
  expect(await sqlOf(harness, 'select from platform.outbox_command')).toEqual([]);
});
