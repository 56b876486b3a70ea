import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  DeliveryStatus,
  ResendState,
  WorkflowCommandKind,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { type ResendDesk, resendDesk } from './resend-desk.ts';
import { answered } from './webhooks-desk.ts';

const { COMPLETED, CANCELED } = ResendState;

let house: TestHouse;
let desk: ResendDesk;
beforeAll(async () => {
  house = await startHouse({ SERVICES: 'webhooks' });
  desk = resendDesk(house, house.transports.grpc);
});
afterAll(() => house.close());
beforeEach(async () => {
  await desk.deliverAll();
  await desk.claimAllCommands();
});

describe('a resend that is canceled', () => {
  it('makes no more, and cancels what is open with its workflows', async () => {
    const tenant = newTenant();
    const { id } = await desk.begun(tenant, 50);
    await desk.goOn(id, 30);
    const keys = await desk.claimKeys(10);
    const [done, failed] = [keys[0]!, keys[1]!];
    await desk.report(answered(done.deliveryId, await desk.send(done), 200));
    await desk.report(answered(failed.deliveryId, await desk.send(failed), 500));
    const late = keys[2]!;
    const lateReport = answered(late.deliveryId, await desk.send(late), 500);
    await desk.claimAllCommands();
    const canceled = await desk.cancel(tenant, id);
    const counts = { madeCount: 30n, succeededCount: 1n, canceledCount: 29n, openCount: 0n };
    expect(canceled).toMatchObject({ state: CANCELED, ...counts });
    const commands = await desk.claimCommands();
    expect(commands.map(({ kind, workflowId }) => [kind, workflowId])).toEqual([
      [WorkflowCommandKind.CANCEL, `resend-${id}`],
      [WorkflowCommandKind.CANCEL, `delivery-${failed.deliveryId}`],
    ]);
    expect(await desk.goOn(id)).toMatchObject({ more: false, resend: { state: CANCELED, madeCount: 30n } });
    expect(await desk.report(lateReport)).toMatchObject([{ status: DeliveryStatus.CANCELED }]);
    const skipped = { case: 'skip', value: { status: DeliveryStatus.CANCELED } };
    expect(await desk.ask(keys.slice(3, 5))).toMatchObject([skipped, skipped]);
    expect(await desk.deliverAll()).toEqual([]);
    expect(await desk.cancel(tenant, id)).toEqual(canceled);
    expect(await desk.get(tenant, id)).toEqual(canceled);
  });

  it('stays as it is when it has completed', async () => {
    const tenant = newTenant();
    const { id } = await desk.begun(tenant, 2);
    const done = await desk.toEnd(id);
    expect(await desk.cancel(tenant, id)).toEqual(done);
    expect(done.state).toBe(COMPLETED);
  });

  it('leaves nothing open when it goes on at the same moment', async () => {
    for (let n = 0; n < 8; n += 1) {
      const tenant = newTenant();
      const { id } = await desk.begun(tenant, 30);
      await desk.goOn(id, 10);
      await Promise.all([desk.goOn(id), desk.cancel(tenant, id), desk.goOn(id)]);
      const statuses = (await desk.madeOf(id)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set(['CANCELED']));
      const { madeCount, canceledCount } = await desk.get(tenant, id);
      expect([Number(madeCount), Number(canceledCount)]).toEqual([statuses.length, statuses.length]);
    }
  });
});

it('leaves nothing open of a subscription that is disabled at the same moment', async () => {
  for (let n = 0; n < 8; n += 1) {
    const tenant = newTenant();
    const { id, subscriptionId } = await desk.begun(tenant, 30);
    await Promise.all([desk.goOn(id, 10), desk.disable(tenant, subscriptionId), desk.goOn(id, 10)]);
    expect((await desk.madeOf(id)).filter(({ status }) => status !== 'CANCELED')).toEqual([]);
    expect((await desk.goOn(id)).resend!.state).toBe(COMPLETED);
  }
});
