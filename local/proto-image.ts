import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** The documented RPCs with all their messages, as other teams call them; checks compare the proto files with it. */
export const DOCUMENTED_IMAGE = 'proto/compat/documented.binpb';

/** The RPCs that are documented for other teams, by service. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  'payments.refunds.v1.RefundCaseService':
    'ListRefundCases GetRefundCase OpenRefundCase DecideRefundCase ExpireMerchantReview ' +
    'ReviewRefundCase OpenDispute CloseDispute AddBlocker ClearBlocker StartRefund ' +
    'RecordProviderOutcome CancelRefundCase GetDispute ListDisputes RespondToDispute ' +
    'AddEvidence ListEvidence GetEvidence',
  'payments.catalog.v1.ProductService':
    'GetProduct ListProducts CreateProduct UpdateProduct ActivateProduct ArchiveProduct ' +
    'CreatePrice RetirePrice CreateOffer RetireOffer',
  'payments.funds.v1.FundsService':
    'ListFundsReleases GetReleaseCalendar RecordSale ApplyDeduction BlockFunds UnblockFunds ' +
    'ReleaseDueFunds ReserveForAdvance FreeReservation SettleReservation DebitForRefund ' +
    'ReverseRefundDebit GetBalance ListDebts VerifyFunds',
  'payments.advances.v1.AdvanceService':
    'QuoteAdvance RequestAdvance ApproveAdvance RefuseAdvance ReleaseAdvance SettleAdvance ' +
    'GetAdvanceRequest ListAdvanceRequests',
  'payments.webhooks.v1.WebhookSubscriptionService':
    'CreateWebhookSubscription GetWebhookSubscription ListWebhookSubscriptions ' +
    'DisableWebhookSubscription ReactivateWebhookSubscription RotateSigningSecret ' +
    'RevealSigningSecret',
  'payments.webhooks.v1.EventService': 'PublishEvent GetEvent ListEvents ListEventTypes',
  'payments.webhooks.v1.DeliveryService':
    'ListDeliveries GetDelivery RetryDelivery CancelDelivery ResendDeliveries GetResend ' + 'CancelResend',
  'payments.webhooks.v1.DispatchService': 'RequestAttempt AwaitAttempt',
  'payments.apikeys.v1.ApiKeyService': 'IssueApiKey RotateApiKey RevokeApiKey ListApiKeys AuthenticateApiKey',
};

/** Builds the image from the proto files. Run `npm run proto-image` after a documented message has been extended. */
function buildImage(): number {
  const methods = Object.entries(DOCUMENTED).flatMap(([service, names]) =>
    names.split(' ').map((name) => `${service}.${name}`),
  );
  mkdirSync(dirname(DOCUMENTED_IMAGE), { recursive: true });
  const types = methods.flatMap((method) => ['--type', method]);
  const options = ['--exclude-source-info', '--output', DOCUMENTED_IMAGE];
  return spawnSync('buf', ['build', ...options, ...types], { stdio: 'inherit' }).status ?? 1;
}

if (import.meta.main) process.exitCode = buildImage();
