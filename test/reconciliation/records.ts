import type { FaultKind } from './fault-schedule.ts';

/** An event whose acceptance a publisher has received. Times are those of the test's clock, in milliseconds. */
export interface AcceptedEvent {
  readonly id: string;
  readonly merchantId: string;
  readonly type: string;
  readonly objectId: string;
  readonly sequence: number;
  /** As it will be delivered. */
  readonly timestampMs: number;
  readonly askedAt: number;
  readonly acceptedAt: number;
  /** The number of calls with the same key. */
  readonly tries: number;
}

/** A subscription whose creation was answered. */
export interface KnownSubscription {
  readonly id: string;
  readonly merchantId: string;
  readonly eventTypes: readonly string[];
  readonly ordered: boolean;
  /** Of its URL: the subscription's own. */
  readonly path: string;
  readonly createdAtMs: number;
  readonly answeredAt: number;
}

/** A whole request that an endpoint has received. */
export interface Arrival {
  /** Its place among all arrivals and answers of all endpoints. */
  readonly order: number;
  readonly at: number;
  readonly path: string;
  readonly eventId: string;
  readonly type: string;
  readonly sequence: number;
  /** webhook-timestamp, in seconds: when its attempt began. */
  readonly stamp: number;
  /** Undefined: none was given. */
  readonly answer: number | undefined;
  readonly answeredOrder: number | undefined;
}

/** A delivery as the log has it. */
export interface LoggedDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** The resend that made it. */
  readonly resendId: string | undefined;
  /** `SUCCEEDED` and so on. */
  readonly status: string;
  readonly attemptCount: number;
  readonly attempts: readonly LoggedAttempt[];
}

export interface LoggedAttempt {
  readonly number: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly httpStatus: number | undefined;
  readonly failure: string | undefined;
}

/** A resend that was answered. */
export interface RequestedResend {
  readonly id: string;
  readonly merchantId: string;
  readonly subscriptionId: string;
  /** The events that it had to send at least. */
  readonly eventIds: readonly string[];
  /** In the end: `COMPLETED` and so on. */
  readonly state: string;
}

/** A fault as it happened, until its target served again. */
export interface FaultWindow {
  /** `lease lost`: without a fault, the machine stalled for so long that another process took the lanes. */
  readonly kind: FaultKind | 'lease lost';
  readonly target: string;
  readonly from: number;
  readonly to: number;
}

/** Everything known when a run has settled. */
export interface Evidence {
  readonly accepted: readonly AcceptedEvent[];
  readonly subscriptions: readonly KnownSubscription[];
  readonly arrivals: readonly Arrival[];
  readonly deliveries: readonly LoggedDelivery[];
  /** The ids of all events of these merchants. */
  readonly events: readonly { readonly id: string; readonly type: string }[];
  readonly resends: readonly RequestedResend[];
  readonly faults: readonly FaultWindow[];
}
