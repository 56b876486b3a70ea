import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { startWholeSystem, temporaryDataDir } from '../contract/whole-system.ts';
import { type DemoFile, FailingMerchant, until } from './failing-merchant.ts';
import { runGuideCommands } from './guide-commands.ts';
import { TemporalUi } from './temporal-ui.ts';

const EVENTS = 6;
const RESENT_PER_SECOND = 2;

/**
 * Starts `npm start` with a merchant whose endpoint answers 503, does in the Temporal UI what
 * docs/operations/webhooks.md describes, and checks the effect over RPC; then runs the commands of that guide.
 */
export async function takeOperationsPictures(folder: string): Promise<void> {
  using data = temporaryDataDir();
  await using _ = await startWholeSystem(data.path, {});
  const demo: DemoFile = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8'));
  const merchant = new FailingMerchant(demo);
  await using ui = await TemporalUi.open(demo.temporal.ui, demo.temporal.namespace, folder);

  await merchant.fail('shop', 503);
  const failing = await merchant.subscribe('shop');
  const working = await merchant.subscribe('erp');
  await merchant.publish(EVENTS);
  const isWaiting = ({ attemptCount, workflowId }: { attemptCount: number; workflowId: string }) =>
    attemptCount === 2 && workflowId.startsWith('delivery-');
  const [first, second] = await merchant.deliveriesOf(failing, EVENTS, isWaiting);

  await pictureFinding(ui, merchant);
  await pictureReason(ui, first!);
  await pictureRetry(ui, merchant, first!.id);
  await pictureCancellation(ui, merchant, second!.id);
  await pictureRecord(ui, merchant, working);
  await pictureResend(ui, merchant, working);
  runGuideCommands('docs/operations/webhooks.md', data.path);
}

async function pictureFinding(ui: TemporalUi, { tenant }: FailingMerchant): Promise<void> {
  const of = `MerchantIds = "${tenant.merchantId}"`;
  await ui.search(`WorkflowType = "retryDelivery" AND ExecutionStatus = "Running" AND ${of}`, EVENTS);
  await ui.picture('find');
}

async function pictureReason(ui: TemporalUi, delivery: { workflowId: string; workflowUrl?: string }) {
  if (!delivery.workflowUrl) throw new Error('npm start answers no link to the workflow of a delivery');
  await ui.follow(delivery.workflowUrl);
  await ui.pendingActivities(delivery.workflowId, /attempt 2: HTTP 503; next attempt at/);
  await ui.picture('why');
  await ui.details(delivery.workflowId, /makes the next attempt now/);
  await ui.picture('details');
}

async function pictureRetry(ui: TemporalUi, { deliveries, tenant }: FailingMerchant, deliveryId: string) {
  await ui.pendingActivities(`delivery-${deliveryId}`, /attempt 2: HTTP 503; next attempt at/);
  await ui.askSignal();
  await ui.picture('retry-now');
  await ui.chooseSignal('retryNow');
  await ui.press('Submit');
  await until(async () => {
    const { attempts } = await deliveries.getDelivery({ ...tenant, deliveryId });
    return attempts.length === 3 ? attempts : undefined;
  });
}

async function pictureCancellation(
  ui: TemporalUi,
  { deliveries, tenant }: FailingMerchant,
  deliveryId: string,
) {
  await ui.pendingActivities(`delivery-${deliveryId}`, /attempt 2: HTTP 503; next attempt at/);
  await ui.askCancellation();
  await ui.picture('cancel');
  await ui.press('Confirm');
  await until(async () => {
    const { delivery } = await deliveries.getDelivery({ ...tenant, deliveryId });
    return delivery!.status === DeliveryStatus.CANCELED ? delivery : undefined;
  });
}

async function pictureRecord(ui: TemporalUi, merchant: FailingMerchant, working: string): Promise<void> {
  const [delivery] = await merchant.deliveriesOf(
    working,
    1,
    ({ status, workflowId }) => status === DeliveryStatus.SUCCEEDED && workflowId.startsWith('deliveries-'),
  );
  await ui.details(delivery!.workflowId, /succeeded at once/);
  await ui.picture('record');
}

/** At a rate that shows it in progress. */
async function pictureResend(
  ui: TemporalUi,
  merchant: FailingMerchant,
  subscriptionId: string,
): Promise<void> {
  await merchant.publish(20);
  await merchant.deliveriesOf(subscriptionId, 20, ({ status }) => status === DeliveryStatus.SUCCEEDED);
  await merchant.subscriptions.setDeliveryLimits({
    ...merchant.write(),
    subscriptionId,
    maxAttemptsPerSecond: RESENT_PER_SECOND,
  });
  const { id, workflowId } = await merchant.resendLastHour(subscriptionId);
  await until(async () => {
    const { resend } = await merchant.deliveries.getResend({ ...merchant.tenant, resendId: id });
    return resend!.succeededCount >= 4n ? resend : undefined;
  });
  await ui.pendingActivities(workflowId, /succeeded/);
  await ui.picture('resend');
}
