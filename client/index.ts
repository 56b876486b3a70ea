import type { components } from './payments-api.ts';

export {
  ApiError,
  ConnectionError,
  type ErrorCode,
  MerchantPaymentsError,
  type Problem,
  WebhookVerificationError,
} from './errors.ts';
export { MerchantPayments } from './merchant-payments.ts';
export type { List, Page } from './pages.ts';
export type { CallOptions, CreateOptions } from './requests.ts';
export type { Environment, MerchantPaymentsOptions } from './settings.ts';
export {
  type EventType,
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
} from './verify-webhook.ts';

type Schemas = components['schemas'];
export type AdvanceRequest = Schemas['AdvanceRequest'];
export type FundsRelease = Schemas['FundsRelease'];
export type Product = Schemas['Product'];
export type RefundCase = Schemas['RefundCase'];
export type ReleaseCalendar = Schemas['ReleaseCalendar'];
export type WebhookSubscription = Schemas['WebhookSubscription'];
