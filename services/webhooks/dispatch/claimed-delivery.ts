import { v7 as uuidv7 } from 'uuid';
import type { EnvironmentName } from '../../platform/tenant.ts';

/** A delivery that a batch has claimed. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly batch_id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly event_type: string;
  readonly request_id: string;
}

/** Ids of the batches to claim into, by environment. */
export interface BatchIds {
  readonly live: string;
  readonly test: string;
}

export const newBatchIds = (): BatchIds => ({ live: uuidv7(), test: uuidv7() });

/** The rows of a relation as a JSON array of ClaimedDelivery, ordered by id. */
export const claimedAsJson = (relation: string) => `(
  select coalesce(json_agg(json_build_object('id', c.id, 'batch_id', c.batch_id, 'merchant_id', c.merchant_id,
           'environment', c.environment, 'subscription_id', c.subscription_id, 'event_type', c.event_type,
           'request_id', c.request_id) order by c.id), '[]')
    from ${relation} c)`;
