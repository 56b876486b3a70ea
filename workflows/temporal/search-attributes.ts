import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

const merchantIds = defineSearchAttributeKey('MerchantIds', 'KEYWORD_LIST');
const subscriptionIds = defineSearchAttributeKey('SubscriptionIds', 'KEYWORD_LIST');
const requestIds = defineSearchAttributeKey('RequestIds', 'KEYWORD_LIST');
const eventType = defineSearchAttributeKey('EventType', 'KEYWORD');
const environment = defineSearchAttributeKey('Environment', 'KEYWORD');

/** The search attributes of workflows, for the Temporal UI. A namespace needs all of them. */
export const SEARCH_ATTRIBUTES = [merchantIds, subscriptionIds, requestIds, eventType, environment];

/** The values of a workflow's search attributes. Empty lists are omitted. */
export interface Searchable {
  readonly environment: 'live' | 'test';
  readonly merchantIds?: readonly string[];
  readonly subscriptionIds?: readonly string[];
  readonly requestIds?: readonly string[];
  readonly eventType?: string | undefined;
}

/** The search attributes with which to start a workflow. */
export function searchAttributesOf(known: Searchable): SearchAttributePair[] {
  const lists = [
    { key: merchantIds, value: [...(known.merchantIds ?? [])] },
    { key: subscriptionIds, value: [...(known.subscriptionIds ?? [])] },
    { key: requestIds, value: [...(known.requestIds ?? [])] },
  ];
  return [
    { key: environment, value: known.environment },
    ...lists.filter(({ value }) => value.length > 0),
    ...(known.eventType ? [{ key: eventType, value: known.eventType }] : []),
  ];
}
